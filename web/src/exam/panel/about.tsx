// The exam as a whole: landmarks, cleanliness, notes, downloads, and how it was screened.

import { api } from "../../api/client.ts";
import { GRADE_WORDS, judge, SEGMENT_WORDS, SEGMENTS } from "../../model/clear.ts";
import { landmarkProblems, transit } from "../../model/landmarks.ts";
import { displayedWords, toReadWords } from "../../model/summary.ts";
import { frameSubject, placeOf } from "../../model/subjects.ts";
import { entryWords } from "../../model/entries.ts";
import { clock, count, LANDMARKS } from "../../model/words.ts";
import { draftsOf } from "../../saving/drafts.ts";
import type { Decisions } from "../decisions.ts";
import { mount, type Mounted } from "../mount.tsx";
import type { Screen } from "../screen.ts";
import type { Session } from "../session.ts";

interface Parts {
  session: Session;
  screen: Screen;
  decisions: Decisions;
}

export const aboutPanel = (parts: Parts): Mounted => mount("div", "holder", <About {...parts} />);

function About(parts: Parts) {
  return (
    <div class="about">
      <Problems {...parts} />
      <h3>Landmarks <kbd aria-hidden="true">G</kbd></h3>
      <Landmarks {...parts} />
      <h3>Cleanliness (CC-CLEAR) <kbd aria-hidden="true">C</kbd></h3>
      <Cleanliness {...parts} />
      <h3>Notes</h3>
      <Notes {...parts} />
      <h3>Downloads</h3>
      <Downloads {...parts} />
      <h3>Screening</h3>
      <Screening {...parts} />
    </div>
  );
}

function Problems({ session, decisions }: Parts) {
  const { problems, misfits, state } = session.reading.value;
  return (
    <>
      {problems.map((sentence) => (
        <p key={sentence} class="small problem">{sentence}</p>
      ))}
      {misfits.map((entry) => (
        <p key={entry.number} class="small">
          {entryWords(entry.content)} ({entry.reader}){" "}
          <button type="button" class="link" disabled={state === "signed"} onClick={() => decisions.withdraw(entry)}>Withdraw</button>
        </p>
      ))}
    </>
  );
}

function Landmarks({ session, screen, decisions }: Parts) {
  const reading = session.reading.value;
  const signed = reading.state === "signed";
  const time = session.hasTimes ? transit(reading, session.positions) : null;
  return (
    <>
      {LANDMARKS.map(([landmark, words, letters], i) => {
        const mark = reading.landmarks[landmark]?.content;
        const at = mark && session.positions.get(mark.head)?.[mark.frame];
        const place = mark ? (session.hasTimes && at !== undefined ? clock(at) : `frame ${count(mark.frame)}`) : "";
        const where = mark && session.exam.heads.length > 1 ? `${place}, head ${mark.head}` : place;
        return (
          <div key={landmark} class="landmark">
            <span class="flag" aria-hidden="true">{letters}</span>
            <span>{words}</span>
            {mark ? (
              <button type="button" class="link" aria-label={`Go to ${words}, ${where}`} title="Go there" onClick={() => screen.jump(mark.head, mark.frame)}>
                {where}
              </button>
            ) : (
              <span class="soft small">not marked</span>
            )}
            <button
              type="button"
              aria-label={`${words}: here`}
              title={`Mark the frame on the screen (G, then ${i + 1})`}
              disabled={signed}
              onClick={() => decisions.landmark(landmark)}
            >
              Here
            </button>
            {mark ? (
              <button type="button" class="quiet" aria-label={`Remove: ${words}`} title="Remove the mark" disabled={signed} onClick={() => decisions.unmark(landmark)}>
                ✕
              </button>
            ) : (
              <span />
            )}
          </div>
        );
      })}
      {landmarkProblems(reading, session.positions).map((problem) => (
        <p key={problem} class="small problem">⚠ {problem}</p>
      ))}
      {session.hasTimes && (
        <p class="small">
          {time === null ? (
            <span class="soft">The colon transit time appears when the first and the last frame of the colon are marked.</span>
          ) : (
            <>Colon transit time: <b>{time}</b></>
          )}
        </p>
      )}
    </>
  );
}

function Cleanliness({ session, decisions }: Parts) {
  const { cleanliness, state } = session.reading.value;
  const { segments } = cleanliness;
  const { sum, words } = judge(segments);
  return (
    <>
      {SEGMENTS.map((segment, i) => (
        <div key={segment} class="segment" role="group" aria-label={SEGMENT_WORDS[segment]}>
          <span>{SEGMENT_WORDS[segment]}</span>
          {GRADE_WORDS.map((meaning, grade) => {
            const pressed = segments[segment] === grade;
            return (
              <button
                key={grade}
                type="button"
                aria-label={`${SEGMENT_WORDS[segment]}: ${grade}, ${meaning}`}
                title={`${meaning} (C, then ${i + 1}, then ${grade})`}
                aria-pressed={pressed}
                disabled={state === "signed"}
                onClick={() => decisions.grade(segment, pressed ? null : grade)}
              >
                {grade}
              </button>
            );
          })}
        </div>
      ))}
      <p class={`clear ${words ?? ""}`}>
        {sum === null ? <span class="soft">The sum appears when all three are graded.</span> : <b>{sum} of 9: {words}</b>}
      </p>
      <p class="small soft">0: below 50 % of the mucosa seen, 1: from 50 %, 2: above 75 %, 3: above 90 %.</p>
    </>
  );
}

function Notes({ session, screen, decisions }: Parts) {
  const { notes, state } = session.reading.value;
  const { exam } = session.exam;
  const drafts = draftsOf(session.room);
  const text = drafts.text(exam, "exam");
  const signed = state === "signed";
  const add = (subject: string): void => {
    if (text.trim() !== "" && decisions.note(subject, text.trim())) drafts.keep(exam, "exam", "");
  };
  const toFrame = (): void => {
    const { head, frame } = screen.here();
    add(frameSubject(head, frame));
  };
  return (
    <>
      {notes.map((note) => {
        const place = placeOf(note.content.subject);
        return (
          <p key={`${note.number} ${note.time}`} class="note">
            {note.content.text}
            <span class="small soft"> {note.reader} </span>
            {place && (
              <button type="button" class="link small" onClick={() => screen.jump(place.head, place.frame)}>
                frame {count(place.frame)}
              </button>
            )}
          </p>
        );
      })}
      <textarea
        rows={2}
        maxlength={4000}
        aria-label="A new note"
        placeholder="A new note"
        disabled={signed}
        value={text}
        onInput={(event) => drafts.keep(exam, "exam", event.currentTarget.value)}
      />
      {text.trim() !== "" && <p class="small problem" role="status">This note is not added yet.</p>}
      <div class="row">
        <button type="button" disabled={signed} onClick={() => add("exam")}>Add to the exam</button>
        <button type="button" disabled={signed} onClick={toFrame}>Add to this frame</button>
        {text.trim() !== "" && (
          <button type="button" class="quiet" onClick={() => drafts.keep(exam, "exam", "")}>Discard</button>
        )}
      </div>
    </>
  );
}

function Downloads({ session }: Parts) {
  const files = [
    ["report.html", "Report (HTML)"],
    ...(session.room.pdf ? [["report.pdf", "Report (PDF)"] as const] : []),
    ["decisions.csv", "Decisions (CSV)"],
    ["labels.csv", "Labels for evaluate and train (CSV)"],
  ] as const;
  return (
    <ul class="downloads small">
      {files.map(([file, words]) => (
        <li key={file}>
          {/* The server names the file: with the exam and the date. */}
          <a href={api.exportLink(session.exam.exam, file)} download="">{words}</a>
        </li>
      ))}
    </ul>
  );
}

function Screening({ session }: Parts) {
  const { progress } = session.reading.value;
  const { detector, flagging, out_of_range, warnings } = session.exam;
  return (
    <>
      <p class="small">Detector: {detector}. {flagging}</p>
      <p class="small soft">{displayedWords(progress)} {toReadWords(progress)}</p>
      {[...new Set([...out_of_range, ...warnings])].map((sentence) => (
        <p key={sentence} class="small problem">⚠ {sentence}</p>
      ))}
    </>
  );
}
