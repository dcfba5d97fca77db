// The row under the frame: where we are, and the verdict on the event that is shown.

import type { SieveEvent, Verdict } from "../api/types.ts";
import { button, fill, h } from "../dom.ts";
import { withKeys } from "../keymap.ts";
import { eventSubject } from "../model/subjects.ts";
import { count, VERDICTS } from "../model/words.ts";
import type { Deciding } from "./deciding.ts";
import type { Screen } from "./screen.ts";
import { isOpen, type Session } from "./session.ts";

const CHOICES: readonly (readonly [Verdict, string, string, string])[] = [
  ["accept", "Accept", "A", withKeys("The event shows a polyp", "accept")],
  ["reject", "Reject", "R", withKeys("The event shows no polyp", "reject")],
  ["unsure", "Unsure", "U", withKeys("It cannot be told", "unsure")],
];

export function verdictBar(
  session: Session,
  screen: Screen,
  deciding: Deciding,
  where: HTMLElement,
): { element: HTMLElement; close(): void } {
  const place = h("div", { class: "choice", role: "group", "aria-label": "Verdict on the event" });
  const which = h("span", { class: "soft" });
  const others = h("span", { class: "others" });
  const element = h("div", { class: "verdicts" }, where, h("span", { class: "gap" }), which, others, place);

  const show = (): void => {
    const event = session.events[screen.event.value];
    const reading = session.reading.value;
    const said = event ? reading.decisions[eventSubject(event)] : undefined;
    const signed = reading.state === "signed";
    const by = said && said.reader !== session.room.reader ? `, by ${said.reader}` : "";
    const two = session.exam.heads.length > 1;
    const elsewhere = event ? -1 : screen.elsewhere();
    const words = event
      ? `Event ${screen.event.value + 1} of ${count(session.events.length)}${two ? `, head ${event.head}` : ""}${by}`
      : elsewhere >= 0
        ? `Event ${elsewhere + 1} is on the other head (H)`
        : two
          ? `No event on head ${screen.head.value}`
          : "No event here";
    const on = two ? `this frame of head ${screen.head.value}` : "this frame";
    which.textContent = words;
    others.textContent = saidBy(session, event);
    others.hidden = others.textContent === "";
    fill(
      place,
      ...CHOICES.map(([verdict, label, key, title]) =>
        button(`${VERDICTS[verdict].sign} ${label}`, () => deciding.onEvent(verdict), {
          key,
          title,
          class: verdict,
          pressed: said?.content.decision === verdict,
          disabled: signed || event === undefined || !isOpen(session, event),
        }),
      ),
      button("Missed polyp", () => deciding.missed(), { key: "M", title: withKeys(`Mark a polyp that the detector missed, on ${on}`, "missed"), disabled: signed }),
    );
  };
  // Every frame may have an event of the other head: looked at when one rests, for it costs a redraw.
  const rest = (): void => {
    if (session.exam.heads.length > 1 && screen.player.playing.value === 0) show();
  };
  const stops = [
    screen.event.subscribe(show),
    session.reading.subscribe(show),
    session.others.subscribe(show),
    screen.head.subscribe(show),
    screen.player.shown.subscribe(rest),
    screen.player.playing.subscribe(rest),
  ];
  return { element, close: () => stops.forEach((stop) => stop()) };
}

/** In blind work, once both have signed: what each of them said of the event. */
function saidBy(session: Session, event: SieveEvent | undefined): string {
  if (event === undefined) return "";
  const words = session.others.value.map(({ reader, reading }) => {
    const verdict = reading.decisions[eventSubject(event)]?.content.decision;
    return `${reader} ${verdict ? `${VERDICTS[verdict].sign} ${VERDICTS[verdict].words}` : "– undecided"}`;
  });
  return words.join(" · ");
}
