// The bar above: which exam, its state and the rule of its list; what is saved, and what ends the reading.

import { showHelp } from "../dialogs/help.tsx";
import { WhoReads } from "../dialogs/leaving.tsx";
import { SaveState } from "../dialogs/savestate.tsx";
import { signBarrier } from "../dialogs/signing.tsx";
import { withKeys } from "../keymap.ts";
import { value } from "../model/words.ts";
import type { Decisions } from "./decisions.ts";
import { mount, type Mounted } from "./mount.tsx";
import type { Screen } from "./screen.ts";
import type { Session } from "./session.ts";

interface Props {
  session: Session;
  screen: Screen;
  decisions: Decisions;
  run(command: "sign" | "differences"): void;
}

export const topBar = (props: Props): Mounted => mount("header", "bar", <TopBar {...props} />);

function TopBar({ session, screen, decisions, run }: Props) {
  const { room, exam } = session;
  const { state, revision, signature, undoable, redoable, urgent } = session.reading.value;
  const signed = state === "signed";
  const version = revision > 1 ? `, revision ${revision}` : "";
  const barrier = signBarrier(session);
  const notice = noticeOf(session);
  return (
    <>
      <a class="back" href="#/" title="Back to the list">
        ‹ Exams
      </a>
      <h1 title={exam.exam}>{exam.exam}</h1>
      <span class="examstate" title={signature?.content ? `Hash ${signature.content.hash}` : ""}>
        {signed ? `● signed by ${signature?.reader ?? "all"}${version}` : `${state === "unread" ? "○" : "◐"} ${state}${version}`}
      </span>
      <span class="notice" role="status" title={notice}>
        {notice}
      </span>
      {screen.player.late.value && <span class="late">{screen.trouble.value === null ? "waiting for frames …" : `waiting: ${screen.trouble.value}`}</span>}
      <span class="gap" />
      <SaveState room={room} saver={session.saver} />
      <WhoReads room={room} saver={session.saver} />
      <button type="button" class="quiet icon" aria-label="Undo" title={withKeys("Undo", "undo")} disabled={signed || undoable === null} onClick={() => void decisions.undo()}>
        ↶
      </button>
      <button type="button" class="quiet icon" aria-label="Redo" title={withKeys("Redo", "redo")} disabled={signed || redoable === null} onClick={() => void decisions.redo()}>
        ↷
      </button>
      <button type="button" class="urgentbutton" aria-label="Urgent" aria-pressed={urgent} title={withKeys("Mark the exam urgent", "urgent")} disabled={signed} onClick={decisions.urgent}>
        ▲ Urgent
      </button>
      {room.workflow === "blind" && (
        <button type="button" title={withKeys("Where the readers differ", "differences")} onClick={() => run("differences")}>
          Differences
        </button>
      )}
      <button
        type="button"
        class="primary"
        disabled={barrier !== null}
        title={barrier ?? withKeys(signed ? "Open it again, as a new revision" : "Freeze the reading with a hash", "sign")}
        onClick={() => run("sign")}
      >
        {signed ? "Reopen" : "Sign"}
      </button>
      <button type="button" class="quiet icon" title={withKeys("Keys", "help")} aria-label="Keys" onClick={showHelp}>
        ?
      </button>
      <Rule session={session} />
    </>
  );
}

/** What the reader has to know before the first decision: a barrier, damage, or other readers. */
function noticeOf({ barrier, reading, room }: Session): string {
  if (barrier.value !== null) return barrier.value;
  if (reading.value.problems.length > 0) return "Part of this reading cannot be used: see Exam (3).";
  const others = reading.value.readers.filter((reader) => reader !== room.reader);
  return room.workflow === "single" && others.length > 0 ? `${others.join(" and ")} decided in this exam, too.` : "";
}

/** How the list was made, and whether the exam is outside the range of the detector. */
function Rule({ session: { exam } }: { session: Session }) {
  return (
    <p class="rule small soft" title={[...exam.out_of_range, exam.flagging].join(" ")}>
      {exam.out_of_range.map((sentence) => (
        <span class="trouble">{`⚠ ${sentence} `}</span>
      ))}
      {exam.flagging || (exam.threshold === null ? "" : `A frame is flagged if its score is at least ${value(exam.threshold)}.`)}
    </p>
  );
}
