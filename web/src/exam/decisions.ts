// Decisions: each is one action, which is stored and undone as a whole.

import { api } from "../api/client.ts";
import type { Content, Entry, FindingContent, Landmark, LogEntry, Reading, Segment, SieveEvent, Spot, Decision } from "../api/types.ts";
import { announce } from "../announce.ts";
import { toast } from "../dialog.ts";
import { askWhichPolyp } from "../dialogs/polyp.tsx";
import { SEGMENT_WORDS } from "../model/clear.ts";

import { landmarkProblems } from "../model/landmarks.ts";
import { eventSubject, findingOfEvent, frameSubject, placeOf, shows, spansOf, withFrame } from "../model/subjects.ts";
import { actionWords } from "../model/entries.ts";
import { LANDMARKS, DECISIONS } from "../model/words.ts";
import { newKey } from "../saving/saver.ts";
import { settings } from "../settings.ts";
import { findingOf } from "../model/events.ts";
import type { Screen } from "./screen.ts";
import { allDecided, eventOf, framesOf, isOpen, type Session } from "./session.ts";

export interface Decisions {
  onEvent(decision: Decision): void;
  onFrame(decision: Decision): void;
  /** Mark a polyp on the drawn frame. */
  missed(): void;
  /** False if it was not taken. */
  change(subject: string, change: Partial<FindingContent>): boolean;
  remove(subject: string): void;
  landmark(name: Landmark): void;
  unmark(name: Landmark): void;
  grade(segment: Segment, grade: number | null): void;
  /** False where it was not taken: the words stay where they were written. */
  note(subject: string, text: string): boolean;
  urgent(): void;
  /** Remove an entry that does not fit the exam. */
  withdraw(entry: LogEntry): void;
  undo(): Promise<void>;
  redo(): Promise<void>;
}

const shortId = (): string => newKey().replaceAll("-", "").slice(0, 12);

export function makeDecisions(session: Session, screen: Screen): Decisions {
  const { events, reading, act, room } = session;
  const name = session.exam.exam;

  /** Whether the frame of the active head is drawn, has a picture and could be looked at. */
  const seen = (): boolean => {
    if (screen.moved.value) return false; // the bar shows it
    if (!screen.settled.value) toast("Wait for the frame: nothing is decided before it is shown.");
    else if (!screen.here().visible) toast("This frame has no picture: nothing can be decided about it.");
    else return true;
    return false;
  };

  const flagged = (head: number, frame: number): boolean => session.columns.get(head)?.flagged[frame] === 1;

  const blank = (subject: string, head: number, frames: number[], best: number): FindingContent => ({
    kind: "finding",
    subject,
    spans: spansOf(head, frames),
    best: { head, frame: best },
    size: null,
    size_on: null,
    paris: null,
    segment: null,
    place: null,
    urgent: false,
    note: "",
    missed: false,
  });

  /** Change fields of a finding; the frame its size was judged on is one of its frames. */
  const change = (subject: string, changes: Partial<FindingContent>): boolean => {
    // A note is sent when its field loses the focus, also by the click that requests another frame.
    if (!("note" in changes) && !seen()) return false;
    const finding = reading.value.findings.find(({ content }) => content.subject === subject);
    if (finding === undefined) return false;
    const content = { ...finding.content, ...changes };
    content.size_on = content.size === null ? null : (content.size_on ?? content.best);
    for (const spot of [content.best, content.size_on]) {
      if (spot !== null && !shows(content, spot.head, spot.frame)) {
        content.spans = withFrame(content.spans, spot.head, spot.frame);
      }
    }
    content.missed &&= !content.spans.some(({ head, first, last }) => {
      for (let frame = first; frame <= last; frame++) if (flagged(head, frame)) return true;
      return false;
    });
    return act(content) !== null;
  };

  /** What accepting, rejecting or being unsure about an event writes; nothing if it is decided so already. */
  const contentsOf = (event: SieveEvent, decision: Decision, frame: number): Content[] => {
    const subject = eventSubject(event);
    const accepts = decision === "accept";
    const known = findingOf(reading.value, event);
    const finding = known?.content.subject ?? findingOfEvent(event);
    const said = reading.value.decisions[subject];
    // The validator's own decision replaces the pre-reader's.
    const others = (entry: Entry<unknown> | undefined): boolean => room.role === "validator" && entry?.role === "pre-reader";
    if (said?.content.decision === decision && accepts === (known !== undefined) && !others(said)) return [];
    const contents: Content[] = [];
    if (accepts && known === undefined) {
      const place = event.row === null || event.col === null ? null : { row: event.row, col: event.col };
      contents.push({ ...blank(finding, event.head, framesOf(session, event), event.best_frame), place });
    } else if (accepts && known !== undefined && others(known)) contents.push(known.content);
    else if (!accepts && known !== undefined) contents.push({ kind: "removed", of: "finding", subject: finding });
    return [...contents, { kind: "decision", subject, decision, frame, finding: accepts ? finding : null }];
  };

  const onEvent = (decision: Decision): void => {
    if (!seen()) return;
    const target = screen.target.value;
    if (target === null) return toast("No event here: M marks a polyp, N goes to the next event.");
    const { event, frame } = target;
    if (!isOpen(session, event)) return toast("Both readers agree on this event: there is nothing to decide.");
    const contents = contentsOf(event, decision, frame);
    if (contents.length > 0 && !act(...contents)) return;
    const place = events.indexOf(event);
    const done = `Event ${place + 1} ${DECISIONS[decision].words}. Ctrl-Z`;
    if (screen.player.playing.value !== 0) return toast(done); // playback continues
    const [next] = session.following(place, 1);
    if (decision === "accept") session.finding.value = findingOf(reading.value, event)?.content.subject ?? null;
    else if (settings().goOn && next) screen.jumpByItself(next.head, next.best_frame);
    toast(next ? done : `${done}. ${allDecided(session)}`);
  };

  /** A frame for a message, with its head if there are two. */
  const spoken = (head: number, frame: number): string =>
    `${session.exam.heads.length > 1 ? `head ${head}, ` : ""}frame ${frame}`;

  const mark = (head: number, frame: number): void => {
    const subject = `finding:${shortId()}`;
    const missed = !flagged(head, frame);
    if (!act({ ...blank(subject, head, [frame], frame), missed })) return;
    session.finding.value = subject;
    toast(`${missed ? "Missed polyp" : "Polyp"}: ${spoken(head, frame)}`);
  };

  const missed = (): void => {
    if (!seen()) return;
    if (reading.value.state === "signed" || session.barrier.value !== null) return void act();
    const { head, frame } = screen.here();
    const place = reading.value.findings.findIndex(({ content }) => shows(content, head, frame));
    if (place >= 0) {
      session.finding.value = reading.value.findings[place]?.content.subject ?? null;
      return toast(`This polyp is finding ${place + 1} already.`);
    }
    const event = eventOf(session, head, frame);
    if (event !== null && isOpen(session, event)) askWhichPolyp(events.indexOf(event) + 1, () => onEvent("accept"), () => mark(head, frame));
    else mark(head, frame);
  };

  /** Everything is saved, and the page knows what was: else an undo would be of an older action. */
  const settled = async (): Promise<boolean> => {
    if (session.saver.status.value.connected || !session.saver.holds(name)) {
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

  /** Undo an action, or an undo: go to its place, and name it. */
  const takeBack = async (action: number, all: readonly LogEntry[], words: string): Promise<void> => {
    const before = stateOf(reading.value);
    if (!act({ kind: "undo", action })) return;
    await session.saver.empty(name);
    await session.refresh();
    const said = all.filter((entry) => entry.action === action).map(({ content }) => content);
    const undone = said[0]?.kind === "undo" ? said[0].action : action;
    const contents = all.filter((entry) => entry.action === undone).map(({ content }) => content);
    const place = placeOfAction(contents, all);
    const here = screen.here();
    if (place && (place.head !== here.head || place.frame !== here.frame)) screen.jumpByItself(place.head, place.frame);
    const same = stateOf(reading.value) === before;
    toast(`${words}: ${actionWords(contents, events)}.${same ? " Nothing changed by it: somebody has decided since." : ""}`);
  };

  // A key pressed twice undoes two actions, one after the other, and not the same one twice.
  let turn: Promise<void> = Promise.resolve();
  const inTurn = (work: () => Promise<void>) => (): Promise<void> => {
    turn = turn.then(work).catch((error: Error) => toast(error.message, true));
    return turn;
  };

  return {
    onEvent,
    onFrame(decision) {
      if (decision === "accept") return missed();
      if (!seen()) return;
      const { head, frame } = screen.here();
      const subject = frameSubject(head, frame);
      const same = reading.value.decisions[subject]?.content.decision === decision;
      if (!same && !act({ kind: "decision", subject, decision, frame, finding: null })) return;
      const words = spoken(head, frame);
      toast(`${words.charAt(0).toUpperCase()}${words.slice(1)} ${DECISIONS[decision].words}. Ctrl-Z`);
    },
    missed,
    change,
    remove(subject) {
      if (!seen() || !act({ kind: "removed", of: "finding", subject })) return;
      session.finding.value = null;
      toast("Finding removed. Ctrl-Z");
    },
    landmark(landmark) {
      if (!seen()) return;
      const { head, frame } = screen.here();
      if (!act({ kind: "landmark", subject: `landmark:${landmark}`, head, frame })) return;
      const words = LANDMARKS.find(([one]) => one === landmark)?.[1] ?? landmark;
      const wrong = landmarkProblems(reading.value, session.positions).filter((problem) => problem.includes(words));
      toast([`${words.charAt(0).toUpperCase()}${words.slice(1)}: ${spoken(head, frame)}.`, ...wrong.map((one) => `⚠ ${one}`)].join(" "));
    },
    unmark: (landmark) => void act({ kind: "removed", of: "landmark", subject: `landmark:${landmark}` }),
    grade(segment, grade) {
      const subject = `segment:${segment}`;
      if (!act(grade === null ? { kind: "removed", of: "cleanliness", subject } : { kind: "cleanliness", subject, grade })) return;
      announce(`${SEGMENT_WORDS[segment]}: ${grade === null ? "no grade" : `grade ${grade}`}`);
    },
    note: (subject, text) => (subject === "exam" || seen()) && act({ kind: "note", subject, text }) !== null,
    urgent() {
      const urgent = !reading.value.urgent;
      const content: Content = urgent ? { kind: "urgent", subject: "exam", text: "" } : { kind: "removed", of: "urgent", subject: "exam" };
      if (act(content)) toast(urgent ? "Marked urgent." : "No longer urgent.");
    },
    withdraw({ content, action }) {
      if (content === null) return;
      if (content.kind === "note") return void act({ kind: "undo", action });
      if (!("subject" in content) || content.kind === "removed") return;
      const contents: Content[] = [{ kind: "removed", of: content.kind, subject: content.subject }];
      if (content.kind === "decision" && content.finding !== null) {
        contents.push({ kind: "removed", of: "finding", subject: content.finding });
      }
      if (act(...contents)) toast("Removed.");
    },
    undo: inTurn(async () => {
      if (!(await settled())) return;
      const action = reading.value.undoable;
      if (action === null) return toast("There is nothing to undo.");
      await takeBack(action, await api.entries(name, 0), "Undone");
    }),
    redo: inTurn(async () => {
      if (!(await settled())) return;
      const action = reading.value.redoable;
      if (action === null) return toast("There is nothing to redo.");
      await takeBack(action, await api.entries(name, 0), "Done again");
    }),
  };
}

/** What a reading contains, without who decided it and when. */
function stateOf(reading: Reading): string {
  const { decisions, findings, landmarks, cleanliness, notes, urgent } = reading;
  const entries = [...Object.values(decisions), ...findings, ...Object.values(landmarks), ...notes];
  return JSON.stringify([entries.map(({ content }) => content), cleanliness, urgent]);
}

/** The frame that an action was about; what it removed has one in an earlier entry. */
function placeOfAction(contents: readonly (Content | null)[], all: readonly LogEntry[]): Spot | null {
  for (const content of contents.toSorted((one) => (one?.kind === "decision" ? -1 : 1))) {
    if (content?.kind !== "removed") {
      const place = content && placeOfContent(content);
      if (place) return place;
      continue;
    }
    const { subject } = content;
    const same = all.findLast(({ content: one }) => one !== null && one.kind !== "removed" && "subject" in one && one.subject === subject);
    const place = same?.content && placeOfContent(same.content);
    if (place) return place;
  }
  return null;
}

function placeOfContent(content: Content): Spot | null {
  if (content.kind === "finding") return content.best;
  if (content.kind === "landmark") return { head: content.head, frame: content.frame };
  const place = "subject" in content ? placeOf(content.subject) : null;
  return place && content.kind === "decision" ? { ...place, frame: content.frame } : place;
}
