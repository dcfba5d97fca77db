// Signing and reopening. What is open is shown first, and is signed only with a reason.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import type { LogEntry, SignContent } from "../api/types.ts";
import { dialogOpen, openDialog, toast } from "../dialog.ts";
import type { Keeper } from "../exam/keeping.ts";
import type { Tabs } from "../exam/panel/tabs.ts";
import type { Screen } from "../exam/screen.ts";
import { offeredEvents, openedEvents, ownEvents, toValidate, type Session } from "../exam/session.ts";
import { canRead, inOrder } from "../list/rows.ts";
import { eventSubject } from "../model/subjects.ts";
import { openPoints, summaryLines, type Facts, type Line, type Link, type Open } from "../model/summary.ts";
import { entryWords } from "../model/entries.ts";
import { plural } from "../model/words.ts";
import { draftsOf, type Draft } from "../saving/drafts.ts";
import { showRefused } from "./refused.tsx";

/** The parts of the exam page that are needed here. */
export interface Signing {
  session: Session;
  screen: Screen;
  keeper: Keeper;
  tabs: Tabs;
}

const LONGEST = 4000; // milliseconds that what was decided and displayed gets to reach the server

/** Why this reader cannot sign or reopen now; null if they can. */
export function signBarrier({ room, others, barrier }: Session): string | null {
  if (room.role === "pre-reader") return "The validator signs.";
  if (barrier.value !== null) return barrier.value;
  const open = room.role === "reader" && others.value.length > 0;
  return open ? "Both readings are open to each other and stay unchanged: changes belong in the consensus." : null;
}

function factsOf(session: Session): Facts {
  const { room, events, columns, positions, hasTimes, viewed } = session;
  const listed = [...columns].flatMap(([head, table]) =>
    Array.from(table.flagged.keys())
      .filter((frame) => table.flagged[frame] === 1 && (table.duplicate_of[frame] as number) < 0)
      .map((frame) => ({ head, frame })),
  );
  const withoutPicture = [...columns].flatMap(([head, table]) =>
    Array.from(table.status.keys()).filter((frame) => table.status[frame] !== 0).map((frame) => ({ head, frame })),
  );
  return {
    ...{ room, events, positions, hasTimes, withoutPicture },
    reading: session.reading.value,
    offered: ownEvents(session),
    toValidate: toValidate(session),
    opened: openedEvents(session),
    notDisplayed: listed.filter(({ head, frame }) => viewed.displayed(head)?.[frame] !== 1),
  };
}

let opening = false; // a key pressed twice opens one dialog

/** Ask whether to sign, once the server has everything and the page shows all that the server has. */
export async function openSigning(parts: Signing): Promise<void> {
  const { session } = parts;
  if (opening) return;
  opening = true;
  const here = location.hash.split("?")[0];
  let others: LogEntry[] = [];
  try {
    if (!(await settled(parts))) return;
    await session.refresh();
    others = await newByOthers(session);
  } catch (error) {
    return toast(`Not connected: ${error instanceof Error ? error.message : String(error)}`, true);
  } finally {
    opening = false;
  }
  if (location.hash.split("?")[0] !== here || dialogOpen() || session.reading.value.state === "signed") return;
  openDialog(`Sign ${session.exam.exam}`, (close) => <Sign parts={parts} others={others} close={close} />);
}

/** Entries of others after this reader's last one. */
async function newByOthers({ exam, room }: Session): Promise<LogEntry[]> {
  const entries = await api.entries(exam.exam, 0);
  const last = entries.findLastIndex(({ reader, role }) => reader === room.reader && role === room.role);
  return last < 0 ? [] : entries.slice(last + 1);
}

/** Whether the server has everything that was decided and displayed here; if not, this is shown. */
async function settled({ session: { saver, exam }, keeper }: Signing): Promise<boolean> {
  keeper.flush();
  saver.kick();
  await Promise.race([saver.empty(exam.exam), new Promise((done) => setTimeout(done, LONGEST))]);
  if (saver.status.value.refused.some(({ item }) => item.exam === exam.exam)) {
    showRefused(saver);
    return false;
  }
  if (!saver.holds(exam.exam)) return true;
  toast("Not everything is saved yet: sign when the server has it.", true);
  return false;
}

// Reasons that were typed stay until the exam is signed, also if the dialog is closed meanwhile.
const typed = signal<Readonly<Record<string, Readonly<Record<string, string>>>>>({});

function Sign({ parts, others, close }: { parts: Signing; others: LogEntry[]; close: () => void }) {
  const { session, screen, tabs } = parts;
  const { room, exam } = session;
  // What is signed is what this dialog shows: if there is more by then, the server refuses.
  const [facts] = useState(() => factsOf(session));
  const [missing, setMissing] = useState(false);
  const open = openPoints(facts);
  const reasons = typed.value[exam.exam] ?? {};
  const reasonOf = (key: string): string => (reasons[key] ?? "").trim();
  const drafts = draftsOf(room).all.value.filter((draft) => draft.exam === exam.exam);
  const without = open.filter(({ key }) => reasonOf(key) === "");
  const give = (given: Record<string, string>): void => {
    typed.value = { ...typed.value, [exam.exam]: { ...reasons, ...given } };
  };
  const go = (link: Link): void => {
    close();
    if (typeof link === "string") tabs.open(link);
    else screen.jump(link.head, link.frame);
  };
  const confirm = (): void => {
    if (drafts.length > 0) return;
    if (without.length > 0) return setMissing(true);
    close();
    const { statement, last } = facts.reading;
    const offered = offeredEvents(session);
    const content: SignContent = {
      ...{ kind: "sign", statement, last, offered: offered.map(eventSubject), opened: facts.opened.map(eventSubject) },
      reasons: Object.fromEntries(open.map(({ key }) => [key, reasonOf(key)])),
    };
    sign(parts, content).catch((error: Error) => toast(error.message, true));
  };
  return (
    <form
      class="signing"
      onSubmit={(event) => {
        event.preventDefault();
        confirm();
      }}
    >
      {others.length > 0 && (
        <section class="news">
          <h3>New entries of others</h3>
          <ul>
            {others.slice(-20).map((entry) => (
              <li key={entry.number}>{entryWords(entry.content)} ({entry.reader})</li>
            ))}
          </ul>
        </section>
      )}
      <ul class="summary">
        {summaryLines(facts).map((line) => (
          <SummaryLine key={line.words} line={line} go={go} />
        ))}
      </ul>
      {drafts.length > 0 && <Unadded drafts={drafts} parts={parts} close={close} />}
      {open.length > 0 && <Reasons open={open} reasons={reasons} give={give} missing={missing} go={go} />}
      <p>Signing freezes the reading with a hash over all its entries. A later change is a new revision.</p>
      <p class="soft">{facts.reading.statement}</p>
      {missing && without.length > 0 && <p class="trouble" role="alert">{plural(without.length, "reason")} missing.</p>}
      <div class="row">
        <button type="submit" class="primary" autofocus disabled={drafts.length > 0}>Sign as {room.reader}</button>
        <button type="button" onClick={close}>Not yet</button>
      </div>
    </form>
  );
}

function SummaryLine({ line: { words, good, link }, go }: { line: Line; go: (link: Link) => void }) {
  return (
    <li class={good === false ? "open" : ""}>
      <span aria-hidden="true">{good ? "✓ " : "• "}</span>
      {good === false && link !== null ? <button type="button" class="link" onClick={() => go(link)}>{words}</button> : words}
    </li>
  );
}

/** Texts that were typed and not added: nothing is signed before each is added or discarded. */
function Unadded({ drafts, parts, close }: { drafts: Draft[]; parts: Signing; close: () => void }) {
  const { session, tabs } = parts;
  const show = ({ field }: Draft): void => {
    close();
    tabs.open(field === "exam" ? "Exam" : "Findings");
    if (field !== "exam") session.finding.value = field;
  };
  return (
    <section class="unadded" role="alert">
      <h3>Typed and not added: add or discard each text before you sign</h3>
      {drafts.map((draft) => (
        <p key={draft.field}>
          “{draft.text.slice(0, 200)}” <button type="button" onClick={() => show(draft)}>Show</button>{" "}
          <button type="button" onClick={() => draftsOf(session.room).keep(draft.exam, draft.field, "")}>Discard</button>
        </p>
      ))}
    </section>
  );
}

interface ReasonsProps {
  open: Open[];
  reasons: Readonly<Record<string, string>>;
  give(given: Record<string, string>): void;
  missing: boolean;
  go(link: Link): void;
}

function Reasons({ open, reasons, give, missing, go }: ReasonsProps) {
  const forAll = (text: string): void => give(Object.fromEntries(open.map(({ key }) => [key, text])));
  return (
    <fieldset class="reasons">
      <legend>Open: each needs a reason, which is signed</legend>
      {open.length > 1 && (
        <label class="all">
          <span>The same reason for all {open.length}</span>
          <input type="text" maxlength={500} data-field="all" onInput={(event) => forAll(event.currentTarget.value)} />
        </label>
      )}
      <div class="each">
        {open.map(({ key, words, link }) => (
          <div key={key} class="reason">
            {link === null ? <span>{words}</span> : <button type="button" class="link" onClick={() => go(link)}>{words}</button>}
            <input
              type="text"
              maxlength={500}
              placeholder="Reason"
              aria-label={`Reason: ${words}`}
              aria-invalid={missing && !(reasons[key] ?? "").trim()}
              value={reasons[key] ?? ""}
              onInput={(event) => give({ [key]: event.currentTarget.value })}
            />
          </div>
        ))}
      </div>
    </fieldset>
  );
}

async function sign(parts: Signing, content: SignContent): Promise<void> {
  const { session, keeper } = parts;
  const { saver, exam } = session;
  if (!(await settled(parts))) return;
  keeper.flush(); // frames that were displayed meanwhile are sent before the signature, and none between
  keeper.hold(true);
  try {
    const key = session.act(content);
    if (key === null) return;
    await saver.empty(exam.exam);
    await session.refresh();
    const refused = saver.status.value.refused.find(({ item }) => item.body.key === key);
    if (refused !== undefined) await tellNotSigned(session, refused.refusal.sentence, key, content.last);
    else if (session.reading.value.state === "signed") await tellSigned(session);
  } finally {
    keeper.hold(false);
  }
}

async function tellSigned({ exam, room, reading }: Session): Promise<void> {
  const { [exam.exam]: _, ...others } = typed.value;
  typed.value = others;
  const rows = await api.exams().catch(() => []);
  const next = inOrder(rows, null, room).find((row) => row.exam !== exam.exam && canRead(row, room));
  const hash = reading.value.signature?.content?.hash ?? "";
  if (dialogOpen()) return;
  openDialog(`Signed: ${exam.exam}`, (close) => {
    const go = (address: string) => (): void => {
      close();
      location.hash = address;
    };
    return (
      <>
        <p>The exam is signed by {room.reader}. Hash: <code>{hash.slice(0, 16)}…</code></p>
        {next === undefined && <p>There is no other exam for you to read.</p>}
        <div class="row">
          {next && (
            <button type="button" class="primary" autofocus onClick={go(`#/exam/${encodeURIComponent(next.exam)}`)}>
              Next exam: {next.exam}
            </button>
          )}
          <button type="button" autofocus={next === undefined} onClick={go("#/")}>Back to the list</button>
          <button type="button" onClick={close}>Stay here</button>
        </div>
      </>
    );
  });
}

/** Why it was not signed, and what was added after the dialog was opened: the reader looks before signing again. */
async function tellNotSigned({ saver, exam }: Session, sentence: string, key: string, last: number): Promise<void> {
  const added = await api.entries(exam.exam, last).catch(() => []);
  openDialog("Not signed", (close) => (
    <>
      <p><b>{sentence}</b></p>
      {added.length > 0 && (
        <>
          <p>Since then there is:</p>
          <ul>
            {added.map((entry) => (
              <li key={entry.number}>{entryWords(entry.content)} ({entry.reader})</li>
            ))}
          </ul>
        </>
      )}
      <p>The page shows the present reading. Check it, and sign again.</p>
      <div class="row">
        <button
          type="button"
          class="primary"
          autofocus
          onClick={() => {
            saver.forget(key);
            close();
          }}
        >
          I have read this
        </button>
      </div>
    </>
  ));
}

export function openReopening(session: Session): void {
  openDialog(`Reopen ${session.exam.exam}`, (close) => <Reopen session={session} close={close} />);
}

function Reopen({ session, close }: { session: Session; close: () => void }) {
  const [reason, setReason] = useState("");
  const reopen = async (): Promise<void> => {
    if (reason.trim() === "") return;
    close();
    session.act({ kind: "reopen", reason: reason.trim() });
    await session.saver.empty(session.exam.exam);
    await session.refresh();
    const { state, revision } = session.reading.value;
    if (state !== "signed") toast(`Open again: revision ${revision}.`);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void reopen();
      }}
    >
      <p>The signed revision stays unchanged. Changes from now on belong to a new revision.</p>
      <label class="block">
        Why is it opened again?
        <input type="text" required maxlength={500} autofocus value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
      <div class="row">
        <button type="submit" class="primary">Reopen</button>
        <button type="button" onClick={close}>Leave it signed</button>
      </div>
    </form>
  );
}
