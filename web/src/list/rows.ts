// Which exams the list shows, and in which order.

import type { ExamRow, Room, State } from "../api/types.ts";

export type Filter = "all" | "urgent" | "unread" | "in reading" | "to validate" | "signed" | "problems";
export type Column = "exam" | "state" | "date" | "events" | "decided" | "findings" | "length";
/** Null: the suggested order, exams that this reader can decide and urgent ones first. */
export type Order = { by: Column; down: boolean } | null;

export const FILTERS: readonly (readonly [Filter, string])[] = [
  ["all", "All"],
  ["urgent", "Urgent"],
  ["unread", "Unread"],
  ["in reading", "In reading"],
  ["to validate", "To validate"],
  ["signed", "Signed"],
  ["problems", "Problems"],
];

export function passes(row: ExamRow, filter: Filter): boolean {
  if (filter === "all") return true;
  if (filter === "urgent") return row.urgent && row.state !== "signed";
  if (filter === "to validate") return row.to_validate > 0;
  if (filter === "problems") return !row.readable || !row.complete || row.problems.length > 0;
  return row.readable && row.state === filter;
}

/** Every word of the search occurs in the name of the exam or of one of its readers. */
export function matches(row: ExamRow, search: string): boolean {
  const text = [row.exam, ...row.readers.map(({ reader }) => reader)].join(" ").toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** Whether this reader can still decide something in an exam. */
export function canRead(row: ExamRow, { workflow, role, reader }: Room): boolean {
  if (!row.readable || row.state === "signed") return false;
  if (workflow !== "blind") return true;
  if (role === "consensus") return row.readers.length > 1 && row.readers.every(({ state }) => state === "signed");
  return row.readers.length < 2 || row.readers.some((one) => one.reader === reader);
}

/** What a column is sorted by; null, which is nothing to sort by, comes last both ways. */
function keyOf(row: ExamRow, by: Column): number | string | null {
  const keys: Record<Column, number | string | null> = {
    exam: row.exam,
    state: { unread: 0, "in reading": 1, signed: 2 }[row.state],
    date: row.screened_at,
    events: row.readable ? row.events : null,
    decided: row.progress.offered > 0 ? row.progress.decided / row.progress.offered : null,
    findings: row.readable ? row.findings : null,
    length: row.duration_s,
  };
  return keys[by];
}

export function inOrder(rows: readonly ExamRow[], order: Order, room: Room): ExamRow[] {
  const ranked = rankExams(rows).sort((one, other) => Number(canRead(other, room)) - Number(canRead(one, room)));
  if (order === null) return ranked;
  const { by, down } = order;
  const names = new Intl.Collator(undefined, { numeric: true });
  return ranked.sort((one, other) => {
    const [a, b] = [keyOf(one, by), keyOf(other, by)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const ascending = typeof a === "number" && typeof b === "number" ? a - b : names.compare(String(a), String(b));
    return down ? -ascending : ascending;
  });
}

/** A click on a column: its usual direction, then the other one, then the suggested order. */
export function nextOrder(order: Order, by: Column): Order {
  const first = by !== "exam" && by !== "state"; // dates and numbers: the newest or largest first
  if (order?.by !== by) return { by, down: first };
  return order.down === first ? { by, down: !first } : null;
}

const STATES: Record<State, number> = { "in reading": 0, unread: 1, signed: 2 };

/** Urgent first, then those in reading, then unread ones by the number of events, signed last. */
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
