// Decisions: each becomes one or two entries. Only undo takes one back.

import { api } from "../api/client.ts";
import type { Entry, FindingContent, Landmark, Segment, Verdict } from "../api/types.ts";
import { announce } from "../announce.ts";
import { toast } from "../dialog.ts";
import { SEGMENT_WORDS } from "../model/clear.ts";
import { partnerOf } from "../model/pairs.ts";
import { nextUndecided } from "../model/rank.ts";
import { eventSubject, findingIdOf, findingSubject, frameSubject } from "../model/subjects.ts";
import { LANDMARKS, VERDICTS } from "../model/words.ts";
import { newKey } from "../saving/saver.ts";
import { settings } from "../settings.ts";
import { findingOf } from "./findings.ts";
import type { Screen } from "./screen.ts";
import { allDecided, eventOf, framesOf, ownEvents, type Session } from "./session.ts";

export interface Deciding {
  onEvent(verdict: Verdict): void;
  onFrame(verdict: Verdict): void;
  missed(): void;
  change(id: string, change: Partial<FindingContent>): void;
  remove(id: string): void;
  landmark(name: Landmark): void;
  unmark(name: Landmark): void;
  grade(segment: Segment, grade: number | null): void;
  /** False where it was not taken: the words stay where they were written. */
  note(subject: string, text: string): boolean;
  urgent(): void;
  confirm(agrees: boolean): void;
  undo(): Promise<void>;
  redo(): Promise<void>;
}

const shortId = (): string => newKey().replaceAll("-", "").slice(0, 12);

export function makeDeciding(session: Session, screen: Screen): Deciding {
  const { events, reading, act } = session;
  const name = session.exam.exam;

  /** Whether a requested frame is not drawn yet: then nothing is decided. */
  const waiting = (): boolean => {
    if (screen.player.waiting()) toast("Wait for the frame: nothing is decided before it is shown.");
    return screen.player.waiting();
  };

  const blank = (head: number, frames: number[], best: number): FindingContent => ({
    head,
    frames,
    best_frame: best,
    size: null,
    size_frame: null,
    paris: null,
    segment: null,
    place: null,
    urgent: false,
    note: "",
    missed_by_sieve: false,
  });

  /** Change fields of a finding; the frame its size was judged on is one of its frames. */
  const change = (id: string, changes: Partial<FindingContent>): void => {
    // A note is sent when its field loses the focus, also by the click that requests another frame.
    if (!("note" in changes) && waiting()) return;
    const finding = reading.get().findings.find((one) => one.id === id);
    if (finding === undefined) return;
    const { head, frames, best_frame, size, size_frame, paris, segment, place, urgent, note, missed_by_sieve } = finding;
    const old = { head, frames, best_frame, size, size_frame, paris, segment, place, urgent, note, missed_by_sieve };
    const content = { ...old, ...changes };
    if (content.size === null) content.size_frame = null;
    else content.size_frame ??= content.best_frame;
    const needed = [content.best_frame, content.size_frame].filter((frame) => frame !== null);
    content.frames = [...new Set([...content.frames, ...needed])].sort((a, b) => a - b);
    act("finding", findingSubject(id), content);
  };

  const onEvent = (verdict: Verdict): void => {
    if (waiting()) return;
    const target = screen.target();
    if (target === null) return toast("No event is shown. Go to one (N), or press Shift for the frame.");
    const { event, frame } = target;
    const subject = eventSubject(event);
    const accepts = verdict === "accept";
    const known = findingOf(reading.get(), event);
    const id = known?.id ?? findingIdOf(event); // of the finding that an accepted event shows
    const same = reading.get().verdicts[subject]?.verdict === verdict && accepts === (known !== undefined);
    if (!same) {
      if (accepts && known === undefined) {
        const place = event.row === null || event.col === null ? null : { row: event.row, col: event.col };
        const content = { ...blank(event.head, framesOf(session, event), event.best_frame), place };
        if (!act("finding", findingSubject(id), { ...content })) return;
      } else if (!accepts && known !== undefined) {
        if (!act("finding", findingSubject(id), { removed: true })) return;
      }
      const content = { verdict, event: event.event, best_frame: event.best_frame, finding: accepts ? id : null, frame };
      if (!act("verdict", subject, content)) return;
    }
    announce(`Event ${events.indexOf(event) + 1}: ${VERDICTS[verdict].words}`);
    if (accepts) session.finding.set(id);
    else if (settings().goOn) {
      const next = nextUndecided(events, reading.get(), events.indexOf(event), ownEvents(session));
      if (next >= 0) screen.choose(next);
      else toast(allDecided(session));
    }
  };

  /** A frame in words, with its head where there are two. */
  const spoken = (head: number, frame: number): string =>
    `${session.exam.heads.length > 1 ? `head ${head}, ` : ""}frame ${frame}`;

  const entries = (): Promise<Entry[]> => api.entries(name, 0);

  /** Undo one entry (or an undo), once everything before it is saved. */
  const takeBack = async (number: number): Promise<void> => {
    if (!act("undo", "", {}, number)) return;
    await session.saver.empty(name);
    await session.refresh();
  };

  /** Everything is saved, and the page knows what was: else an undo would be of an older action. */
  const settled = async (): Promise<boolean> => {
    if (session.saver.status.get().connected || !session.saver.holds(name)) {
      await session.saver.empty(name);
      try {
        await session.refresh();
        return true;
      } catch {
        // Said below, like a connection that was lost before.
      }
    }
    toast("Not connected: undo is possible when the waiting actions are saved.", true);
    return false;
  };

  // A key pressed twice undoes two actions, one after the other, and not the same one twice.
  let turn: Promise<void> = Promise.resolve();
  const inTurn = (work: () => Promise<void>) => (): Promise<void> => {
    turn = turn.then(work).catch((error: Error) => toast(error.message, true));
    return turn;
  };

  return {
    onEvent,
    onFrame(verdict) {
      if (waiting()) return;
      const { head, frame } = screen.here();
      const subject = frameSubject(head, frame);
      const event = eventOf(session, head, frame)?.event ?? null;
      const same = reading.get().verdicts[subject]?.verdict === verdict;
      if (!same && !act("verdict", subject, { verdict, event, best_frame: null, finding: null })) return;
      announce(`${spoken(head, frame)}: ${VERDICTS[verdict].words}`);
    },
    missed() {
      if (waiting()) return;
      const { head, frame } = screen.here();
      const id = shortId();
      const content = { ...blank(head, [frame], frame), missed_by_sieve: true };
      if (!act("finding", findingSubject(id), { ...content })) return;
      session.finding.set(id);
      toast(`Missed polyp: ${spoken(head, frame)}`);
    },
    change,
    remove(id) {
      if (waiting() || !act("finding", findingSubject(id), { removed: true })) return;
      session.finding.set(null);
      toast("Finding removed. Ctrl+Z brings it back.");
    },
    landmark(landmark) {
      if (waiting()) return;
      const { head, frame } = screen.here();
      if (!act("landmark", `landmark:${landmark}`, { head, frame })) return;
      const words = LANDMARKS.find(([one]) => one === landmark)?.[1];
      toast(`${words}: ${spoken(head, frame)}`);
    },
    unmark: (landmark) => void act("landmark", `landmark:${landmark}`, { removed: true }),
    grade(segment, grade) {
      if (!act("cleanliness", `segment:${segment}`, { grade })) return;
      announce(`${SEGMENT_WORDS[segment]}: ${grade === null ? "no grade" : `grade ${grade}`}`);
    },
    note: (subject, text) => act("note", subject, { text }) !== null,
    urgent() {
      const urgent = !reading.get().urgent;
      if (act("urgent", "exam", { urgent, text: "" })) toast(urgent ? "Marked urgent." : "No longer urgent.");
    },
    confirm(agrees) {
      if (waiting()) return;
      const target = screen.target();
      const id = session.finding.get();
      const subject = id !== null ? findingSubject(id) : target === null ? null : eventSubject(target.event);
      if (subject === null || !(id !== null || reading.get().verdicts[subject])) {
        return toast("There is nothing here to confirm.");
      }
      const of =
        id === null
          ? reading.get().verdicts[subject]?.number
          : reading.get().findings.find((finding) => finding.id === id)?.number;
      const content = { agrees, text: "", ...(of !== undefined && of > 0 ? { of } : {}) };
      if (act("confirm", subject, content)) toast(agrees ? "Confirmed." : "Not confirmed.");
    },
    undo: inTurn(async () => {
      if (!(await settled())) return;
      const number = reading.get().undoable;
      if (number === null) return toast("There is nothing to undo.");
      const [all] = await Promise.all([entries(), takeBack(number)]);
      const undone = all.find((one) => one.number === number);
      const pair = partnerOf(all, undone);
      if (pair !== null && reading.get().undoable === pair.number) await takeBack(pair.number);
      toast(`Undone: ${undone?.kind ?? "the last action"}.`);
    }),
    redo: inTurn(async () => {
      if (!(await settled())) return;
      const number = reading.get().redoable;
      if (number === null) return toast("There is nothing to redo.");
      const [all] = await Promise.all([entries(), takeBack(number)]);
      const undone = (undo: number | null): Entry | undefined => {
        const number = all.find((one) => one.number === undo)?.undoes;
        return all.find((one) => one.number === number);
      };
      const done = undone(number);
      const next = reading.get().redoable;
      if (next !== null && done !== undefined && partnerOf(all, undone(next)) === done) await takeBack(next);
      toast(`Done again: ${done?.kind ?? "the last action"}.`);
    }),
  };
}
