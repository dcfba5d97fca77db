// The order of exams on the list, and the way through the events.

import type { ExamRow, Reading, SieveEvent, State } from "../api/types.ts";
import { eventSubject } from "./subjects.ts";

const STATES: Record<State, number> = { "in reading": 0, unread: 1, signed: 2 };

/** Urgent first, then what was begun, then unread by what the sieve found, signed last. */
export function rankExams(rows: readonly ExamRow[]): ExamRow[] {
  const key = (row: ExamRow): number[] => [
    row.urgent && row.state !== "signed" ? 0 : 1,
    STATES[row.state] ?? 1,
    -row.events,
  ];
  return rows.toSorted((one, other) => {
    const a = key(one);
    const b = key(other);
    for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return (a[i] as number) - (b[i] as number);
    return one.exam.localeCompare(other.exam, undefined, { numeric: true });
  });
}

export const verdictOn = (reading: Reading, event: SieveEvent) =>
  reading.decisions[eventSubject(event)]?.content.decision ?? null;

/** The next event without a verdict after this place in the ranking, round the end; -1 if none. */
export function nextUndecided(
  events: readonly SieveEvent[],
  reading: Reading,
  after: number,
  among: readonly SieveEvent[] = events,
): number {
  for (let i = 1; i <= events.length; i++) {
    const at = (after + i + events.length) % events.length;
    const event = events[at];
    if (event !== undefined && among.includes(event) && verdictOn(reading, event) === null) return at;
  }
  return -1;
}

/** Whether two readings, or more, say different things of an event, or one says nothing. */
export function differ(readings: readonly Reading[], event: SieveEvent): boolean {
  const said = readings.map((reading) => verdictOn(reading, event));
  return said.some((verdict) => verdict === null || verdict !== said[0]);
}

export const undecided = (events: readonly SieveEvent[], reading: Reading): SieveEvent[] =>
  events.filter((event) => verdictOn(reading, event) === null);
