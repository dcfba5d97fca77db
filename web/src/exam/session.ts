// One exam that is open: what is known of it, what is shown of it, what was said about it.

import { api } from "../api/client.ts";
import type { Columns } from "../api/columns.ts";
import type { Action, Exam, Kind, Reading, Room, SieveEvent } from "../api/types.ts";
import { toast } from "../dialog.ts";
import { watched, type Watched } from "../emitter.ts";
import { numbersOf, secondsOf } from "../model/positions.ts";
import { withAction } from "../model/reading.ts";
import { makeLedger, parseSeen, type Ledger } from "../saving/ledger.ts";
import { newKey, type Saver } from "../saving/saver.ts";

export interface Session {
  room: Room;
  exam: Exam;
  events: SieveEvent[];
  columns: Map<number, Columns>;
  /** Seconds, or frame numbers where the exam has no times. */
  positions: Map<number, Float64Array>;
  hasTimes: boolean;
  ledger: Ledger;
  saver: Saver;
  /** What was said, the actions on their way included. */
  reading: Watched<Reading>;
  /** The place of the chosen event in the ranking; -1: none. */
  event: Watched<number>;
  /** The chosen finding. */
  finding: Watched<string | null>;
  /** Say something: shown at once, sent at once. False where the exam is signed. */
  act(kind: Kind, subject: string, content: Record<string, unknown>, undoes?: number): boolean;
  /** Take what the server says now. */
  refresh(): Promise<void>;
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
  const events = exam.events.toSorted((one, other) => one.event - other.event);
  let server = first;
  const by = () => ({ reader: room.reader, time: new Date().toISOString() });
  const together = (): Reading =>
    saver
      .waiting(name)
      .reduce((reading, { body }) => withAction(reading, body as unknown as Action, by()), server);

  const reading = watched(together());
  const session: Session = {
    room,
    exam,
    events,
    columns,
    positions,
    hasTimes,
    ledger: makeLedger(await earlier(name, exam), () => performance.now()),
    saver,
    reading,
    event: watched(-1),
    finding: watched<string | null>(null),
    act(kind, subject, content, undoes) {
      if (server.state === "signed" && kind !== "reopen") {
        toast("This exam is signed. Reopen it to change something.", true);
        return false;
      }
      const action: Action = { key: newKey(), kind, subject, content };
      if (undoes !== undefined) action.undoes = undoes;
      saver.add(name, "entry", { ...action });
      reading.set(together());
      return true;
    },
    async refresh() {
      const next = await api.reading(name);
      // Answers may overtake each other: an older one changes nothing.
      if ((next.last ?? 0) < (server.last ?? 0)) return;
      server = next;
      reading.set(together());
    },
  };
  return session;
}

async function earlier(name: string, exam: Exam): Promise<Map<number, Float32Array>> {
  const sums = new Map<number, Float32Array>(exam.heads.map(({ head, frames }) => [head, new Float32Array(frames)]));
  try {
    for (const [head, { milliseconds }] of Object.entries(await api.seen(name))) {
      const table = exam.heads.find((one) => one.head === Number(head));
      if (table) sums.set(table.head, parseSeen(milliseconds, table.frames));
    }
  } catch {
    // The ledger of earlier visits is only drawn; what is seen now is added on the server.
    toast("What was seen on earlier visits cannot be shown right now.", true);
  }
  return sums;
}

/** The event that a frame belongs to. */
export function eventOf(session: Session, head: number, frame: number): SieveEvent | null {
  const number = session.columns.get(head)?.event[frame] ?? -1;
  if (number < 0) return null;
  return session.events.find((one) => one.event === number) ?? null;
}

/** The flagged frames of an event. */
export function framesOf(session: Session, event: SieveEvent): number[] {
  const table = session.columns.get(event.head);
  const frames: number[] = [];
  for (let frame = event.first_frame; frame <= event.last_frame; frame++) {
    if (table?.event[frame] === event.event) frames.push(frame);
  }
  return frames.length > 0 ? frames : [event.best_frame];
}
