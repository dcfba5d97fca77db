// The exam as a whole: landmarks, cleanliness, notes, what was seen, and where results go.

import { api } from "../../api/client.ts";
import { button, fill, h } from "../../dom.ts";
import { GRADE_WORDS, judge, SEGMENT_WORDS, SEGMENTS } from "../../model/clear.ts";
import { frameSubject, placeOf } from "../../model/subjects.ts";
import { entryWords } from "../../model/telling.ts";
import { clock, count, LANDMARKS, share } from "../../model/words.ts";
import { draftOf, keepDraft } from "../../saving/drafts.ts";
import type { Deciding } from "../deciding.ts";
import type { Screen } from "../screen.ts";
import type { Session } from "../session.ts";

export function aboutPanel(
  session: Session,
  screen: Screen,
  deciding: Deciding,
): { element: HTMLElement; close(): void } {
  const landmarks = h("div", { class: "landmarks" });
  const cleanliness = h("div", { class: "cleanliness" });
  const notes = h("div", { class: "notes" });
  const text = h("textarea", { rows: 2, maxlength: 4000, "aria-label": "A new note", placeholder: "A new note" });
  const name = session.exam.exam;
  text.value = draftOf(name);
  text.addEventListener("input", () => keepDraft(name, text.value));
  const add = (subject: string): void => {
    const words = text.value.trim();
    if (words === "") return text.focus();
    if (!deciding.note(subject, words)) return;
    text.value = "";
    keepDraft(name, "");
  };
  const toExam = button("Add to the exam", () => add("exam"));
  const toFrame = button("Add to this frame", () => {
    const { head, frame } = screen.here();
    add(frameSubject(head, frame));
  });
  const unreadable = h("div", { class: "problems" });
  const element = h(
    "div",
    { class: "about" },
    unreadable,
    h("h3", {}, "Landmarks ", h("kbd", { "aria-hidden": "true" }, "G")),
    landmarks,
    h("h3", {}, "Cleanliness (CC-CLEAR) ", h("kbd", { "aria-hidden": "true" }, "C")),
    cleanliness,
    h("h3", {}, "Notes"),
    notes,
    text,
    h(
      "div",
      { class: "row" },
      toExam,
      toFrame,
    ),
    h("h3", {}, "Out"),
    h(
      "p",
      { class: "small" },
      h("a", { href: api.exportLink(name, "report.html"), download: `${name}.html` }, "Report (HTML)"),
      " · ",
      ...(session.room.pdf
        ? [h("a", { href: api.exportLink(name, "report.pdf"), download: `${name}.pdf` }, "Report (PDF)"), " · "]
        : []),
      h("a", { href: api.exportLink(name, "decisions.csv"), download: "" }, "Decisions (CSV)"),
      " · ",
      h("a", { href: api.exportLink(name, "labels.csv"), download: "" }, "Labels for evaluate and train (CSV)"),
    ),
    provenance(session),
  );

  const show = (): void => {
    const reading = session.reading.value;
    const signed = reading.state === "signed";
    fill(
      unreadable,
      ...reading.problems.map((sentence) => h("p", { class: "small problem" }, sentence)),
      ...reading.misfits.map((entry) =>
        h("p", { class: "small" }, `${entryWords(entry.content)} (${entry.reader}) `, button("Take back", () => deciding.withdraw(entry), { class: "link", disabled: signed })),
      ),
    );
    fill(
      landmarks,
      ...LANDMARKS.map(([landmark, words, letters], i) => {
        const mark = reading.landmarks[landmark]?.content;
        const time = mark && session.positions.get(mark.head)?.[mark.frame];
        const at = mark ? (session.hasTimes && time !== undefined ? clock(time) : `frame ${count(mark.frame)}`) : "not marked";
        const where = mark && session.exam.heads.length > 1 ? `${at}, head ${mark.head}` : at;
        return h(
          "div",
          { class: "landmark" },
          h("span", { class: "flag", "aria-hidden": "true" }, letters),
          h("span", {}, words),
          mark
            ? button(where, () => screen.jump(mark.head, mark.frame), { class: "link", name: `Go to ${words}, ${where}`, title: "Go there" })
            : h("span", { class: "soft small" }, where),
          button("Here", () => deciding.landmark(landmark), { name: `${words}: here`, title: `The frame on the screen is it (G, then ${i + 1})`, disabled: signed }),
          mark ? button("✕", () => deciding.unmark(landmark), { class: "quiet", name: `Take away: ${words}`, title: "Take it away", disabled: signed }) : h("span"),
        );
      }),
    );
    const { segments } = reading.cleanliness;
    const { sum, words } = judge(segments);
    fill(
      cleanliness,
      ...SEGMENTS.map((segment, i) =>
        h(
          "div",
          { class: "segment", role: "group", "aria-label": SEGMENT_WORDS[segment] },
          h("span", {}, SEGMENT_WORDS[segment]),
          ...GRADE_WORDS.map((words, grade) => {
            const pressed = segments[segment] === grade;
            return button(String(grade), () => deciding.grade(segment, pressed ? null : grade), {
              name: `${SEGMENT_WORDS[segment]}: ${grade}, ${words}`,
              title: `${words} (C, then ${i + 1}, then ${grade})`,
              pressed,
              disabled: signed,
            });
          }),
        ),
      ),
      h(
        "p",
        { class: `clear ${words ?? ""}` },
        sum === null ? h("span", { class: "soft" }, "The sum appears when all three are graded.") : h("b", {}, `${sum} of 9: ${words}`),
      ),
      h("p", { class: "small soft" }, "0 below 50 % of the mucosa seen, 1 from 50, 2 above 75, 3 above 90 %."),
    );
    fill(
      notes,
      ...reading.notes.map((note) => {
        const place = placeOf(note.content.subject);
        return h(
          "p",
          { class: "note" },
          note.content.text,
          h("span", { class: "small soft" }, ` ${note.reader} `),
          place ? button(`frame ${count(place.frame)}`, () => screen.jump(place.head, place.frame), { class: "link small" }) : null,
        );
      }),
    );
    text.disabled = toExam.disabled = toFrame.disabled = signed;
  };
  return { element, close: session.reading.subscribe(show) };
}

function provenance(session: Session): HTMLElement {
  const { seen } = session.reading.value;
  const facts = Object.entries(session.exam.provenance)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .slice(0, 14);
  return h(
    "details",
    { class: "small", "aria-label": "Where this comes from" },
    h("summary", {}, "Where this comes from"),
    h("p", { class: "soft" }, `Detector: ${session.exam.detector}. Displayed so far: ${share(seen.displayed, seen.of)} of the frames.`),
    ...session.exam.warnings.map((sentence) => h("p", { class: "trouble" }, sentence)),
    h("dl", {}, ...facts.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, String(value))])),
  );
}
