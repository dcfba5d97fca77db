// The row under the frame: where we are, and the verdict on the event that is shown.

import type { Verdict } from "../api/types.ts";
import { button, fill, h } from "../dom.ts";
import { eventSubject } from "../model/subjects.ts";
import { count, VERDICTS } from "../model/words.ts";
import type { Deciding } from "./deciding.ts";
import type { Screen } from "./screen.ts";
import type { Session } from "./session.ts";

const CHOICES: readonly (readonly [Verdict, string, string])[] = [
  ["accept", "Accept", "A"],
  ["reject", "Reject", "R"],
  ["unsure", "Unsure", "U"],
];

export function verdictBar(
  session: Session,
  screen: Screen,
  deciding: Deciding,
  where: HTMLElement,
): { element: HTMLElement; close(): void } {
  const place = h("div", { class: "choice", role: "group", "aria-label": "Verdict on the event" });
  const element = h("div", { class: "verdicts" }, where, h("span", { class: "gap" }), place);

  const show = (): void => {
    const event = session.events[session.event.get()];
    const reading = session.reading.get();
    const said = event ? reading.verdicts[eventSubject(event)] : undefined;
    const signed = reading.state === "signed";
    const others = said && said.reader !== session.room.reader ? `, by ${said.reader}` : "";
    const words = event
      ? `Event ${session.event.get() + 1} of ${count(session.events.length)}${others}`
      : "No event here";
    fill(
      place,
      h("span", { class: "soft" }, words),
      ...CHOICES.map(([verdict, label, key]) =>
        button(`${VERDICTS[verdict].sign} ${label}`, () => deciding.onEvent(verdict), {
          key,
          class: verdict,
          pressed: said?.verdict === verdict,
          disabled: signed || event === undefined,
        }),
      ),
      session.room.role === "validator" && said
        ? button("Confirm", () => deciding.confirm(true), { key: "Y", pressed: said.confirmed === true, disabled: signed })
        : null,
      button("Missed polyp", () => deciding.missed(), { key: "M", disabled: signed }),
    );
  };
  const stops = [session.event.watch(show), session.reading.watch(show), screen.head.watch(show)];
  return { element, close: () => stops.forEach((stop) => stop()) };
}
