// The order of exams on the list.

import type { ExamRow, State } from "../api/types.ts";

const STATES: Record<State, number> = { "in reading": 0, unread: 1, signed: 2 };

/** Urgent first, then what was begun, then unread by the number of events, signed last. */
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
