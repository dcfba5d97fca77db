// The exam as a whole: landmarks, cleanliness, notes, what was seen, and where results go.

import { api } from "../../api/client.ts";
import { button, fill, h } from "../../dom.ts";
import { GRADE_WORDS, judge, SEGMENT_WORDS, SEGMENTS } from "../../model/clear.ts";
import { frameSubject, placeOf } from "../../model/subjects.ts";
import { clock, count, LANDMARKS, share } from "../../model/words.ts";
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
  const add = (subject: string): void => {
    const words = text.value.trim();
    if (words === "") return text.focus();
    deciding.note(subject, words);
    text.value = "";
  };
  const name = session.exam.exam;
  const element = h(
    "div",
    { class: "about" },
    h("h3", {}, "Landmarks ", h("kbd", {}, "G")),
    landmarks,
    h("h3", {}, "Cleanliness (CC-CLEAR) ", h("kbd", {}, "C")),
    cleanliness,
    h("h3", {}, "Notes"),
    notes,
    text,
    h(
      "div",
      { class: "row" },
      button("Add to the exam", () => add("exam")),
      button("Add to this frame", () => {
        const { head, frame } = screen.here();
        add(frameSubject(head, frame));
      }),
    ),
    h("h3", {}, "Out"),
    h(
      "p",
      { class: "small" },
      h("a", { href: api.exportLink(name, "decisions.csv"), download: "" }, "Decisions (CSV)"),
      " · ",
      h("a", { href: api.exportLink(name, "labels.csv"), download: "" }, "Labels for evaluate and train (CSV)"),
    ),
    provenance(session),
  );

  const show = (): void => {
    const reading = session.reading.get();
    const signed = reading.state === "signed";
    fill(
      landmarks,
      ...LANDMARKS.map(([landmark, words, letters], i) => {
        const mark = reading.landmarks[landmark];
        const time = mark && session.positions.get(mark.head)?.[mark.frame];
        const where = mark ? (session.hasTimes && time !== undefined ? clock(time) : `frame ${count(mark.frame)}`) : "not marked";
        return h(
          "div",
          { class: "landmark" },
          h("span", { class: "flag", "aria-hidden": "true" }, letters),
          h("span", {}, words),
          mark
            ? button(where, () => screen.jump(mark.head, mark.frame), { class: "link", title: "Go there" })
            : h("span", { class: "soft small" }, where),
          button("Here", () => deciding.landmark(landmark), { title: `G then ${i + 1}`, disabled: signed }),
          mark ? button("✕", () => deciding.unmark(landmark), { class: "quiet", title: "Take it away", disabled: signed }) : h("span"),
        );
      }),
    );
    const { segments } = reading.cleanliness;
    const { sum, words } = judge(segments);
    fill(
      cleanliness,
      ...SEGMENTS.map((segment) =>
        h(
          "div",
          { class: "segment", role: "group", "aria-label": SEGMENT_WORDS[segment] },
          h("span", {}, SEGMENT_WORDS[segment]),
          ...GRADE_WORDS.map((title, grade) => {
            const pressed = segments[segment] === grade;
            return button(String(grade), () => deciding.grade(segment, pressed ? null : grade), { title, pressed, disabled: signed });
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
        const place = placeOf(note.subject);
        return h(
          "p",
          { class: "note" },
          note.text,
          h("span", { class: "small soft" }, ` ${note.reader} `),
          place ? button(`frame ${count(place.frame)}`, () => screen.jump(place.head, place.frame), { class: "link small" }) : null,
        );
      }),
    );
    text.disabled = signed;
  };
  return { element, close: session.reading.watch(show) };
}

function provenance(session: Session): HTMLElement {
  const { seen } = session.reading.get();
  const facts = Object.entries(session.exam.provenance)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .slice(0, 14);
  return h(
    "details",
    { class: "small" },
    h("summary", {}, "Where this comes from"),
    h("p", { class: "soft" }, `Detector: ${session.exam.detector}. Seen so far: ${share(seen.frames, seen.of)} of the frames.`),
    ...session.exam.warnings.map((sentence) => h("p", { class: "trouble" }, sentence)),
    h("dl", {}, ...facts.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, String(value))])),
  );
}
