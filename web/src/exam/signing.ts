// Signing: what is still open is said first. A signed exam is read-only; reopening begins a new
// revision.

import { api } from "../api/client.ts";
import { dialogOpen, openDialog, toast } from "../dialog.ts";
import { button, h } from "../dom.ts";
import { judge, SEGMENT_WORDS, SEGMENTS } from "../model/clear.ts";
import { undecided } from "../model/rank.ts";
import { entryWords } from "../model/telling.ts";
import type { SignContent } from "../api/types.ts";
import { count, plural, share } from "../model/words.ts";
import type { Keeper } from "./keeping.ts";
import { showRefused } from "./refused.ts";
import { ownEvents, toValidate, type Session } from "./session.ts";

const LONGEST = 4000; // milliseconds that what was said and seen gets to reach the server

/** Why this reader cannot sign or reopen right now; null where they can. */
export function signBarrier({ room, others, barrier }: Session): string | null {
  if (room.role === "pre-reader") return "The validator signs.";
  if (barrier.value !== null) return barrier.value;
  const open = room.role === "reader" && others.value.length > 0;
  return open ? "Both readings are open to each other and stay as they are: changes belong in the consensus." : null;
}

export interface Summary {
  sentence: string;
  fine: boolean;
}

/** What a reader should know before signing. */
export function summaryOf(session: Session): Summary[] {
  const reading = session.reading.value;
  const events = ownEvents(session);
  const which = session.room.role === "consensus" ? "event on which the readers differ" : "event";
  const open = undecided(events, reading).length;
  const unsure = Object.values(reading.decisions).filter(({ content }) => content.decision === "unsure").length;
  const waiting = toValidate(session).length;
  const { displayed, of } = reading.seen;
  const bare = SEGMENTS.filter((segment) => typeof reading.cleanliness.segments[segment] !== "number");
  const sizeless = reading.findings.filter(({ content }) => content.size === null).length;
  const { sum, words } = judge(reading.cleanliness.segments);
  return [
    {
      sentence: open ? `${count(open)} of ${plural(events.length, "event")} without a decision.` : events.length === 0 ? "No event to decide." : `Every ${which} has a decision (${count(events.length)}).`,
      fine: open === 0,
    },
    ...(unsure ? [{ sentence: `${plural(unsure, "decision")} "unsure".`, fine: false }] : []),
    ...(waiting ? [{ sentence: `${count(waiting)} to validate: pre-reader decisions on frames that were not displayed to you.`, fine: false }] : []),
    { sentence: `${share(displayed, of)} of the frames were displayed (${count(displayed)} of ${count(of)}).`, fine: true },
    { sentence: `${plural(reading.findings.length, "finding")}${sizeless ? `, ${count(sizeless)} without a size` : ""}.`, fine: sizeless === 0 },
    {
      sentence: bare.length ? `No grade of cleanliness: ${bare.map((segment) => SEGMENT_WORDS[segment]).join(", ")}.` : `Cleanliness: ${sum} of 9, ${words}.`,
      fine: bare.length === 0,
    },
  ];
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
  if (location.hash !== here || dialogOpen() || session.reading.value.state === "signed") return;
  askToSign(session, keeper);
}

/** Whether the server has everything that was said and seen here; where it has not, that is told. */
async function settled({ saver, exam }: Session, keeper: Keeper): Promise<boolean> {
  keeper.flush();
  saver.kick();
  await Promise.race([saver.empty(exam.exam), new Promise((done) => setTimeout(done, LONGEST))]);
  if (saver.status.value.refused.some(({ parcel }) => parcel.exam === exam.exam)) {
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
  const { statement, last } = session.reading.value;
  const waiting = toValidate(session).length;
  const why = h("input", { type: "text", "aria-label": "Why were they not displayed", placeholder: "Why were they not displayed?", maxlength: 500 });
  const dialog = openDialog(`Sign ${session.exam.exam}`, [
    h(
      "ul",
      { class: "summary" },
      ...summaryOf(session).map(({ sentence, fine }) =>
        h("li", { class: fine ? "fine" : "open" }, h("span", { "aria-hidden": "true" }, fine ? "✓ " : "! "), sentence),
      ),
    ),
    h("p", {}, "Signing freezes the reading with a hash over all its entries. A later change is a new revision."),
    h("p", { class: "soft" }, statement),
    waiting > 0 ? why : null,
    h(
      "div",
      { class: "row" },
      button(`Sign as ${reader}`, () => {
        const reason = why.value.trim();
        if (waiting > 0 && reason === "") return why.focus();
        dialog.close();
        const reasons: Record<string, string> = waiting > 0 ? { "not-displayed": reason } : {};
        sign(session, keeper, { kind: "sign", statement, last, offered: [], opened: [], reasons }).catch((error: Error) => toast(error.message, true));
      }, { class: "primary", focus: true }),
      button("Not yet", () => dialog.close()),
    ),
  ].filter((part) => part !== null));
}

async function sign(session: Session, keeper: Keeper, content: SignContent): Promise<void> {
  const { saver, exam } = session;
  if (!(await settled(session, keeper))) return;
  keeper.flush(); // what was displayed meanwhile goes before the signature, and nothing between
  keeper.hold(true);
  try {
    const key = session.act(content);
    if (key === null) return;
    await saver.empty(exam.exam);
    await session.refresh();
    const refused = saver.status.value.refused.find(({ parcel }) => parcel.body.key === key);
    if (refused !== undefined) await tellNotSigned(session, refused.refusal.sentence, key, content.last);
    else if (session.reading.value.state === "signed") toast("Signed.");
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
    added.length === 0 ? null : h("ul", {}, ...added.map((entry) => h("li", {}, `${entryWords(entry.content)} (${entry.reader})`))),
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
    session.act({ kind: "reopen", reason: reason.value.trim() });
    await session.saver.empty(session.exam.exam);
    await session.refresh();
    if (session.reading.value.state !== "signed") toast(`Open again: revision ${session.reading.value.revision}.`);
  };
  const dialog = openDialog(`Reopen ${session.exam.exam}`, [
    h("p", {}, "The signed revision stays as it is. What is changed from now on belongs to a new one."),
    reason,
    h("div", { class: "row" }, button("Reopen", () => void reopen(), { class: "primary" }), button("Leave it signed", () => dialog.close())),
  ]);
  reason.addEventListener("keydown", (event) => {
    if (event.key === "Enter") void reopen();
  });
  reason.focus();
}
