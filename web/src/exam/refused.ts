// What the server did not take: told until it was read, and kept over a reload.

import { openDialog } from "../dialog.ts";
import { button, h } from "../dom.ts";
import type { Content } from "../api/types.ts";
import { actionWords } from "../model/telling.ts";
import { plural } from "../model/words.ts";
import type { Status } from "../saving/outbox.ts";
import type { Saver } from "../saving/saver.ts";

/** "2 actions not taken"; if it is only displayed frames, that. */
export function refusedWords(refused: Status["refused"]): string {
  const actions = refused.filter(({ parcel }) => parcel.kind === "action").length;
  return actions > 0 ? `${plural(actions, "action")} not taken` : "displayed frames were not taken";
}

/** One line each for actions; displayed frames are one line for an exam and a reason. */
export function refusedLines(refused: Status["refused"]): { exam: string; what: string; why: string }[] {
  const lines = refused.map(({ parcel, refusal }) => ({
    exam: parcel.exam,
    what: parcel.kind === "viewed" ? "displayed frames" : actionWords(parcel.body["entries"] as Content[]),
    why: refusal.sentence,
    viewed: parcel.kind === "viewed",
  }));
  return lines
    .filter((line, at) => !line.viewed || lines.findIndex((one) => one.viewed && one.exam === line.exam && one.why === line.why) === at)
    .map(({ exam, what, why }) => ({ exam, what, why }));
}

export function showRefused(saver: Saver): void {
  const { refused } = saver.status.value;
  const outdated = [...new Set(refused.filter(({ refusal }) => refusal.outdated).map(({ parcel }) => parcel.exam))];
  const dialog = openDialog("What the server did not take", [
    ...refusedLines(refused).map(({ exam, what, why }) => h("p", {}, h("b", {}, `${exam}: ${what}. `), why)),
    h("p", { class: "soft" }, "It counts for nothing, and stays in this browser until you have read it."),
    h(
      "div",
      { class: "row" },
      ...outdated.map((exam) =>
        button(`Open ${exam} anew`, () => {
          dialog.close();
          openAnew(exam);
        }),
      ),
      button("I have read this", () => {
        for (const { parcel } of refused) saver.forget(parcel.body.key);
        dialog.close();
      }),
    ),
  ]);
}

/** Take an exam from the server once more. The window stays, and with it notes that were begun. */
function openAnew(exam: string): void {
  const address = `#/exam/${encodeURIComponent(exam)}`;
  if (location.hash === address) dispatchEvent(new Event("hashchange"));
  else location.hash = address;
}
