// Signing: what is still open is said first. A signed exam is read-only; reopening begins a new
// version.

import { openDialog, toast } from "../dialog.ts";
import { button, h } from "../dom.ts";
import { judge, SEGMENT_WORDS, SEGMENTS } from "../model/clear.ts";
import { undecided } from "../model/rank.ts";
import { count, plural, share } from "../model/words.ts";
import type { Session } from "./session.ts";

export interface Summary {
  sentence: string;
  fine: boolean;
}

/** What a reader should know before signing. */
export function summaryOf(session: Session): Summary[] {
  const reading = session.reading.get();
  const open = undecided(session.events, reading).length;
  const unsure = Object.values(reading.verdicts).filter(({ verdict }) => verdict === "unsure").length;
  const [seen, all] = seenFrames(session);
  const bare = SEGMENTS.filter((segment) => typeof reading.cleanliness.segments[segment] !== "number");
  const sizeless = reading.findings.filter((finding) => finding.size === null).length;
  const { sum, words } = judge(reading.cleanliness.segments);
  return [
    {
      sentence: open ? `${plural(open, "event")} of ${count(session.events.length)} without a verdict.` : `Every event has a verdict (${count(session.events.length)}).`,
      fine: open === 0,
    },
    ...(unsure ? [{ sentence: `${plural(unsure, "verdict")} "unsure".`, fine: false }] : []),
    { sentence: `${share(seen, all)} of the frames stood on the screen (${count(seen)} of ${count(all)}).`, fine: true },
    { sentence: `${plural(reading.findings.length, "finding")}${sizeless ? `, ${count(sizeless)} without a size` : ""}.`, fine: sizeless === 0 },
    {
      sentence: bare.length ? `No grade of cleanliness: ${bare.map((segment) => SEGMENT_WORDS[segment]).join(", ")}.` : `Cleanliness: ${sum} of 9, ${words}.`,
      fine: bare.length === 0,
    },
  ];
}

function seenFrames(session: Session): [number, number] {
  let [seen, all] = [0, 0];
  for (const { head, frames } of session.exam.heads) {
    all += frames;
    for (const ms of session.ledger.seen(head) ?? []) if (ms > 0) seen++;
  }
  return [seen, all];
}

export function openSigning(session: Session): void {
  const { reader } = session.room;
  const { version } = session.reading.get();
  const statement = `Read and decided by ${reader}, version ${version}.`;
  const dialog = openDialog(`Sign ${session.exam.exam}`, [
    h(
      "ul",
      { class: "summary" },
      ...summaryOf(session).map(({ sentence, fine }) =>
        h("li", { class: fine ? "fine" : "open" }, h("span", { "aria-hidden": "true" }, fine ? "✓ " : "! "), sentence),
      ),
    ),
    h("p", {}, "Signing freezes the reading with a hash over all its entries. A later change is a new version."),
    h("p", { class: "soft" }, statement),
    h(
      "div",
      { class: "row" },
      button(`Sign as ${reader}`, () => {
        dialog.close();
        void sign();
      }, { class: "primary", focus: true }),
      button("Not yet", () => dialog.close()),
    ),
  ]);
  const sign = async (): Promise<void> => {
    session.act("sign", "exam", { statement });
    await session.saver.empty();
    await session.refresh();
    if (session.reading.get().state === "signed") toast("Signed.");
  };
}

export function openReopening(session: Session): void {
  const reason = h("input", { type: "text", required: true, "aria-label": "Why", placeholder: "Why is it opened again?", maxlength: 500 });
  const reopen = async (): Promise<void> => {
    if (reason.value.trim() === "") return reason.focus();
    dialog.close();
    session.act("reopen", "exam", { reason: reason.value.trim() });
    await session.saver.empty();
    await session.refresh();
    if (session.reading.get().state !== "signed") toast(`Open again: version ${session.reading.get().version}.`);
  };
  const dialog = openDialog(`Reopen ${session.exam.exam}`, [
    h("p", {}, "The signed version stays as it is. What is changed from now on belongs to a new one."),
    reason,
    h("div", { class: "row" }, button("Reopen", () => void reopen(), { class: "primary" }), button("Leave it signed", () => dialog.close())),
  ]);
  reason.addEventListener("keydown", (event) => {
    if (event.key === "Enter") void reopen();
  });
  reason.focus();
}
