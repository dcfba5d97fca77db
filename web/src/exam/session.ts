// One exam that is open: what is known of it, what is shown of it, what was said about it.

import { api } from "../api/client.ts";
import type { Columns } from "../api/columns.ts";
import type { Action, Content, Exam, Opened, Reading, Room, SieveEvent, Spot } from "../api/types.ts";
import { toast } from "../dialog.ts";
import { computed, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { numbersOf, secondsOf } from "../model/positions.ts";
import { decisionOn, differ, eventsByFrame, inTurn } from "../model/events.ts";
import { eventSubject } from "../model/subjects.ts";
import { withAction } from "../model/reading.ts";
import type { Item } from "../saving/outbox.ts";
import { newKey, type Saver } from "../saving/saver.ts";
import { storePart } from "../saving/storage.ts";
import { makeViewed, parseBits, type Viewed } from "../saving/viewed.ts";

/** A blind reading that is open, in the order of the agreement. */
export interface Other {
  reader: string;
  reading: Reading;
}

/** So many events are offered at a time. */
export const BLOCK = 50;

export type Order = "score" | "time";
/** Which events the list shows; a number is a head. */
export type Filter = "all" | "open" | "unsure" | number;

export interface Session {
  room: Room;
  exam: Exam;
  events: SieveEvent[];
  /** The place of the event of each frame, for each head; -1: no event. */
  eventsByFrame: ReadonlyMap<number, Int32Array>;
  columns: Map<number, Columns>;
  /** Seconds from the first frame of the exam, or frame numbers if it has no times. */
  positions: Map<number, Float64Array>;
  hasTimes: boolean;
  viewed: Viewed;
  saver: Saver;
  /** What was said, the actions on their way included. */
  reading: Signal<Reading>;
  /** How many events are offered, the best by score. */
  offered: ReadonlySignal<number>;
  offerMore(): void;
  order: ReadonlySignal<Order>;
  setOrder(order: Order): void;
  filter: Signal<Filter>;
  /** The places of the offered events in the chosen order. */
  places: ReadonlySignal<readonly number[]>;
  /** Those of them that pass the filter. */
  list: ReadonlySignal<readonly number[]>;
  /** The place that moving between events starts from; -1: none. Decides nothing. */
  selected: number;
  /** The next open events after a place, in the order of the list and round its end. */
  following(place: number, most: number): SieveEvent[];
  /** The name of the open finding: one of the drawn frame, see findings.ts. */
  finding: Signal<string | null>;
  /** Blind work, once both have signed: what the two readers said. Empty before. */
  others: Signal<readonly Other[]>;
  /** Why this reader cannot decide anything here; null if they can. */
  barrier: Signal<string | null>;
  /** Do one action: shown at once, sent at once. Returns its key; null if nothing can be done. */
  act(...contents: Content[]): string | null;
  /** Send something, with what was the case when the exam was opened. */
  send(kind: Item["kind"], body: Item["body"]): void;
  /** Take what the server says now. */
  refresh(): Promise<void>;
  /** The same if it has changed, asked for by the page itself. */
  poll(): Promise<void>;
}

export async function openSession(name: string, room: Room, saver: Saver): Promise<Session> {
  const [exam, first] = await Promise.all([api.exam(name), api.reading(name)]);
  const tables = await Promise.all(exam.heads.map(({ head }) => api.columns(name, head)));
  const columns = new Map(exam.heads.map(({ head }, i) => [head, tables[i] as Columns]));
  const hasTimes = exam.heads.every((head) => head.has_times);
  const positions = new Map(
    [...columns].map(([head, table]) => [
      head,
      hasTimes ? secondsOf(table.time_s) : numbersOf(table.frames),
    ]),
  );
  if (hasTimes) {
    const zero = Math.min(...[...columns.values()].flatMap(({ time_s }) => time_s.find(Number.isFinite) ?? []));
    for (const seconds of positions.values()) seconds.forEach((time, i) => void (seconds[i] = time - zero));
  }
  const events = exam.events.toSorted((one, other) => one.event - other.event);
  const opened: Opened = { reader: room.reader, role: room.role, screening: exam.screening };
  let server = first;
  const by = () => ({ reader: room.reader, role: room.role, time: new Date().toISOString() });
  const together = (): Reading =>
    [...saver.taken(name, server.last), ...saver.waiting(name)]
      .reduce((reading, { body }) => withAction(reading, body as unknown as Action, by()), server);

  const blind = await blindWork(name, room);
  const reading = signal(together());
  const view = storePart("view", room);
  const blocks = signal(Number(view.get(`blocks/${name}`) ?? 1) || 1);
  const order = signal<Order>(view.get("order") === "time" ? "time" : "score");
  const filter = signal<Filter>("all");
  const offered = computed(() => {
    // A decision on an event offers its block.
    const last = events.findLastIndex((event) => decisionOn(reading.value, event) !== null);
    return Math.min(Math.max(blocks.value, Math.ceil((last + 1) / BLOCK)) * BLOCK, events.length);
  });
  const places = computed(() => {
    const found = Array.from({ length: offered.value }, (_, place) => place);
    const at = (place: number): number => {
      const event = events[place] as SieveEvent;
      return positions.get(event.head)?.[event.best_frame] ?? 0;
    };
    return order.value === "score" ? found : found.sort((one, other) => at(one) - at(other) || one - other);
  });
  const list = computed(() =>
    places.value.filter((place) => {
      const event = events[place] as SieveEvent;
      if (filter.value === "all") return true;
      if (typeof filter.value === "number") return event.head === filter.value;
      return filter.value === "unsure" ? decisionOn(reading.value, event) === "unsure" : decisionOn(reading.value, event) === null && isOpen(session, event);
    }),
  );
  const session: Session = {
    room,
    exam,
    events,
    eventsByFrame: new Map([...columns].map(([head, table]) => [head, eventsByFrame(head, table, events)])),
    columns,
    positions,
    hasTimes,
    viewed: makeViewed(await earlier(name, exam), () => performance.now()),
    saver,
    reading,
    offered,
    offerMore() {
      blocks.value = Math.ceil(offered.value / BLOCK) + 1;
      view.put(`blocks/${name}`, String(blocks.value));
    },
    order,
    setOrder(next) {
      order.value = next;
      view.put("order", next);
    },
    filter,
    places,
    list,
    selected: -1,
    following(place, most) {
      const open = inTurn(places.value, place).map((one) => events[one] as SieveEvent);
      return open.filter((event) => isOpen(session, event) && decisionOn(reading.value, event) === null).slice(0, most);
    },
    finding: signal<string | null>(null),
    others: signal(blind.others),
    barrier: signal(blind.barrier),
    act(...entries) {
      if (server.state === "signed" && !entries.some(({ kind }) => kind === "reopen")) {
        return no("This exam is signed. Reopen it to change something.");
      }
      const barrier = session.barrier.value;
      if (barrier !== null) return no(barrier);
      // The server would refuse what comes after the signature.
      if (saver.waiting(name).some(({ body }) => (body["entries"] as Content[]).some(({ kind }) => kind === "sign"))) return no("The signature is on its way: wait for it.");
      if (entries.length === 0) return null;
      const action: Action = { key: newKey(), entries };
      session.send("action", { ...action });
      reading.value = together();
      return action.key;
    },
    send: (kind, body) => saver.add(name, kind, { ...body, ...opened }),
    refresh: async () => take(await api.reading(name)),
    async poll() {
      const next = await api.readingIfChanged(name);
      if (next !== null) await take(next);
    },
  };
  const take = async (next: Reading): Promise<void> => {
    // Answers may overtake each other: an older one changes nothing.
    if (next.last < server.last) return;
    server = next;
    reading.value = together();
    // Both have signed only if this reader has.
    const may = room.role === "consensus" || next.state === "signed";
    if (room.workflow !== "blind" || !may || session.others.value.length > 0) return;
    const now = await blindWork(name, room);
    if (session.barrier.value !== SCREENED_ANEW) session.barrier.value = now.barrier;
    if (now.others.length > 0) session.others.value = now.others;
  };
  return session;
}

export const SCREENED_ANEW = "This exam was screened again: open it again before you decide anything.";
export const NOT_YET = "The consensus begins when both readers have signed.";

/** What blind work shows of the others, and why this reader cannot decide here; null where they can. */
interface Blind {
  others: readonly Other[];
  barrier: string | null;
}

/** Both blind readings, if both are signed: before that the server shows neither. */
async function blindWork(name: string, room: Room): Promise<Blind> {
  if (room.workflow !== "blind") return { others: [], barrier: null };
  const readers = (await api.exams()).find((row) => row.exam === name)?.readers ?? [];
  const signed = readers.length > 1 && readers.every(({ reader, state }) => state === "signed" && reader !== "");
  const mine = room.role === "consensus" || readers.length < 2 || readers.some(({ reader }) => reader === room.reader);
  if (!signed) {
    const barrier = room.role === "consensus" ? NOT_YET : mine ? null : "Two others read this exam blind: choose another one.";
    return { others: [], barrier };
  }
  const others = await Promise.all(readers.map(async ({ reader }) => ({ reader, reading: await api.reading(name, reader) })));
  return { others, barrier: mine ? null : "Two others have read this exam." };
}

/** Say why nothing was said. */
function no(sentence: string): null {
  toast(sentence, true);
  return null;
}

/** What this window opened is no longer what the server has, and nothing said here is taken. */
export function watchScreening({ saver, exam, barrier }: Session): () => void {
  return saver.status.subscribe(({ refused }) => {
    const mine = refused.some(({ item, refusal }) => refusal.outdated && item.exam === exam.exam && item.body["screening"] === exam.screening);
    if (mine) barrier.value = SCREENED_ANEW;
  });
}

async function earlier(name: string, exam: Exam): Promise<Map<number, Uint8Array>> {
  const found = new Map<number, Uint8Array>(exam.heads.map(({ head, frames }) => [head, new Uint8Array(frames)]));
  try {
    for (const [head, { displayed }] of Object.entries(await api.viewed(name))) {
      const table = exam.heads.find((one) => one.head === Number(head));
      if (table) found.set(table.head, parseBits(displayed, table.frames));
    }
  } catch {
    // What was displayed on earlier visits is only drawn; what is displayed now is added on the server.
    toast("What was displayed on earlier visits cannot be shown right now.", true);
  }
  return found;
}

/** Whether an event takes a decision: in the consensus only one on which the two differ. */
export function isOpen(session: Session, event: SieveEvent): boolean {
  const readings = session.others.value.map(({ reading }) => reading);
  return session.room.role !== "consensus" || readings.length === 0 || differ(readings, event);
}

/** Frames of pre-reader decisions that were not displayed to this validator. */
export function toValidate(session: Session): Spot[] {
  return session.reading
    .value
    .to_validate.map(({ frame }) => frame)
    .filter(({ head, frame }) => session.viewed.displayed(head)?.[frame] !== 1);
}

/** The events that this reader has to decide: in the consensus those on which the two differ. */
export function ownEvents(session: Session): SieveEvent[] {
  return offeredEvents(session).filter((event) => isOpen(session, event));
}

/** The events that are offered to this reader, the best by score. */
export const offeredEvents = ({ events, offered }: Session): SieveEvent[] => events.slice(0, offered.value);

/** Those of them whose best frame was displayed to this reader. */
export const openedEvents = (session: Session): SieveEvent[] =>
  offeredEvents(session).filter(({ head, best_frame }) => session.viewed.displayed(head)?.[best_frame] === 1);

/** Who decided an event, if it was somebody else. */
export function eventSaidBy({ reading, room }: Session, event: SieveEvent): string {
  const decision = reading.value.decisions[eventSubject(event)];
  return decision === undefined || decision.reader === room.reader ? "" : decision.reader;
}

export const allDecided = ({ room, events }: Session): string =>
  events.length === 0
    ? "The detector flagged nothing in this exam."
    : room.role === "consensus"
      ? "Every event on which the readers differ has a decision."
      : "Every event has a decision.";

/** The event that a frame belongs to. */
export const eventOf = ({ events, eventsByFrame }: Session, head: number, frame: number): SieveEvent | null =>
  events[eventsByFrame.get(head)?.[frame] ?? -1] ?? null;

/** The flagged frames of an event. */
export function framesOf(session: Session, event: SieveEvent): number[] {
  const table = session.columns.get(event.head);
  const frames: number[] = [];
  for (let frame = event.first_frame; frame <= event.last_frame; frame++) {
    if (table?.event[frame] === event.event) frames.push(frame);
  }
  return frames.length > 0 ? frames : [event.best_frame];
}
