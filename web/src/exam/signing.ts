// Signing: what is still open is said first. A signed exam is read-only; reopening begins a new
// version.

import { api } from "../api/client.ts";
import { dialogOpen, openDialog, toast } from "../dialog.ts";
import { button, h } from "../dom.ts";
import { judge, SEGMENT_WORDS, SEGMENTS } from "../model/clear.ts";
import { undecided } from "../model/rank.ts";
import { entryWords } from "../model/telling.ts";
import { count, plural, share } from "../model/words.ts";
import type { Keeper } from "./keeping.ts";
import { showRefused } from "./refused.ts";
import { ownEvents, type Session } from "./session.ts";

const LONGEST = 4000; // milliseconds that what was said and seen gets to reach the server

/** Why this reader cannot sign or reopen right now; null where they can. */
export function signBarrier({ room, others, barrier }: Session): string | null {
  if (room.role === "pre-reader") return "The validator signs.";
  if (barrier.get() !== null) return barrier.get();
  const open = room.role === "reader" && others.get().length > 0;
  return open ? "Both readings are open to each other and stay as they are: changes belong in the consensus." : null;
}

export interface Summary {
  sentence: string;
  fine: boolean;
}

/** What a reader should know before signing. */
export function summaryOf(session: Session): Summary[] {
  const reading = session.reading.get();
  const events = ownEvents(session);
  const which = session.room.role === "consensus" ? "event on which the readers differ" : "event";
  const open = undecided(events, reading).length;
  const unsure = Object.values(reading.verdicts).filter(({ verdict }) => verdict === "unsure").length;
  const [seen, all] = seenFrames(session);
  const bare = SEGMENTS.filter((segment) => typeof reading.cleanliness.segments[segment] !== "number");
  const sizeless = reading.findings.filter((finding) => finding.size === null).length;
  const { sum, words } = judge(reading.cleanliness.segments);
  return [
    {
      sentence: open ? `${count(open)} of ${plural(events.length, "event")} without a verdict.` : events.length === 0 ? "No event to decide." : `Every ${which} has a verdict (${count(events.length)}).`,
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

let opening = false; // a key pressed twice opens one dialog

/** Ask whether to sign, once the server has everything and the page shows all that it has. */
export async function openSigning(session: Session, keeper: Keeper): Promise<void> {
  if (opening) return;
  opening = true;
  const here = location.hash;
  try {
    if (!(await settled(session, keeper))) return;
    await session.refresh();
  } catch (error) {
    return toast(`Not connected: ${error instanceof Error ? error.message : String(error)}`, true);
  } finally {
    opening = false;
  }
  if (location.hash !== here || dialogOpen() || session.reading.get().state === "signed") return;
  askToSign(session, keeper);
}

/** Whether the server has everything that was said and seen here; where it has not, that is told. */
async function settled({ saver, exam }: Session, keeper: Keeper): Promise<boolean> {
  keeper.flush();
  saver.kick();
  await Promise.race([saver.empty(exam.exam), new Promise((done) => setTimeout(done, LONGEST))]);
  if (saver.status.get().refused.some(({ parcel }) => parcel.exam === exam.exam)) {
    showRefused(saver);
    return false;
  }
  if (!saver.holds(exam.exam)) return true;
  toast("Not everything is saved yet: sign when the server has it.", true);
  return false;
}

function askToSign(session: Session, keeper: Keeper): void {
  const { reader } = session.room;
  // What is signed is what this dialog tells: should there be more by then, the server says no.
  const { version, last = 0 } = session.reading.get();
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
        sign(session, keeper, { statement, last }).catch((error: Error) => toast(error.message, true));
      }, { class: "primary", focus: true }),
      button("Not yet", () => dialog.close()),
    ),
  ]);
}

async function sign(session: Session, keeper: Keeper, content: { statement: string; last: number }): Promise<void> {
  const { saver, exam } = session;
  if (!(await settled(session, keeper))) return;
  keeper.flush(); // what was seen meanwhile goes before the signature, and nothing between
  keeper.hold(true);
  try {
    const key = session.act("sign", "exam", content);
    if (key === null) return;
    await saver.empty(exam.exam);
    await session.refresh();
    const refused = saver.status.get().refused.find(({ parcel }) => parcel.body.key === key);
    if (refused !== undefined) await tellNotSigned(session, refused.refusal.sentence, key, content.last);
    else if (session.reading.get().state === "signed") toast("Signed.");
  } finally {
    keeper.hold(false);
  }
}

/** Why it was not signed, and what came after the dialog was drawn: the reader looks before signing again. */
async function tellNotSigned({ saver, exam }: Session, sentence: string, key: string, last: number): Promise<void> {
  const added = await api.entries(exam.exam, last).catch(() => []);
  const dialog = openDialog("Not signed", [
    h("p", {}, h("b", {}, sentence)),
    added.length === 0 ? null : h("p", {}, "Since then there is:"),
    added.length === 0 ? null : h("ul", {}, ...added.map((entry) => h("li", {}, `${entryWords(entry)} (${entry.reader})`))),
    h("p", {}, "The page shows the reading as it stands now. Look at it, and sign again."),
    h(
      "div",
      { class: "row" },
      button("I have read this", () => {
        saver.forget(key);
        dialog.close();
      }, { class: "primary", focus: true }),
    ),
  ].filter((part) => part !== null));
}

export function openReopening(session: Session): void {
  const reason = h("input", { type: "text", required: true, "aria-label": "Why", placeholder: "Why is it opened again?", maxlength: 500 });
  const reopen = async (): Promise<void> => {
    if (reason.value.trim() === "") return reason.focus();
    dialog.close();
    session.act("reopen", "exam", { reason: reason.value.trim() });
    await session.saver.empty(session.exam.exam);
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
