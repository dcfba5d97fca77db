import assert from "node:assert/strict";
import { test } from "node:test";

import type { ExamRow, Room } from "../src/api/types.ts";
import { canRead, inOrder, matches, nextOrder, passes, type Order } from "../src/list/rows.ts";

const row = (exam: string, change: Partial<ExamRow> = {}): ExamRow =>
  ({
    ...{ exam, state: "unread", revision: 1, urgent: false, frames: 100, heads: [0], duration_s: 60, events: 4, flagged_frames: 9 },
    ...{ to_read: 8, decided_events: 0, to_validate: 0, findings: 0, complete: true, problems: [], readers: [], readable: true },
    ...{ screened_at: "2026-03-01T12:00:00Z", progress: { offered: 4, decided: 0 }, ...change },
  }) as ExamRow;
const room = (workflow: string, role: string): Room => ({ workflow, role, reader: "anna" }) as Room;
const ROOM = room("single", "reader");
const names = (rows: ExamRow[]): string[] => rows.map(({ exam }) => exam);

test("a search finds exams by parts of names of exams and readers", () => {
  const exam = row("Patient-12", { readers: [{ reader: "bert", state: "unread" }] });
  for (const found of ["", "pat", "12 BERT", " patient "]) assert.ok(matches(exam, found), found);
  for (const absent of ["patient-13", "pat carl"]) assert.ok(!matches(exam, absent), absent);
});

test("every exam passes the filter of its state, and those with problems one more", () => {
  assert.ok(passes(row("a"), "unread") && !passes(row("a"), "signed") && !passes(row("a"), "problems"));
  assert.ok(passes(row("a", { urgent: true }), "urgent") && !passes(row("a", { urgent: true, state: "signed" }), "urgent"));
  for (const change of [{ readable: false }, { complete: false }, { problems: ["x"] }]) assert.ok(passes(row("a", change), "problems"));
  assert.ok(!passes(row("a", { readable: false }), "unread"));
});

test("a column sorts both ways, and what has no value comes last both ways", () => {
  const rows = [row("b", { duration_s: null }), row("a10", { duration_s: 5 }), row("a9", { duration_s: 7 })];
  assert.deepEqual(names(inOrder(rows, { by: "exam", down: false }, ROOM)), ["a9", "a10", "b"]);
  assert.deepEqual(names(inOrder(rows, { by: "length", down: true }, ROOM)), ["a9", "a10", "b"]);
  assert.deepEqual(names(inOrder(rows, { by: "length", down: false }, ROOM)), ["a10", "a9", "b"]);
  assert.deepEqual(names(inOrder([row("a"), row("z", { urgent: true })], null, ROOM)), ["z", "a"]);
});

test("three clicks on a column return to the suggested order", () => {
  const orders = [1, 2, 3].reduce<Order[]>((all) => [...all, nextOrder(all.at(-1) ?? null, "date")], []);
  assert.deepEqual(orders, [{ by: "date", down: true }, { by: "date", down: false }, null]);
});

test("an exam that this reader cannot decide is not one to read", () => {
  const [own, other, third] = ["anna", "", ""].map((reader) => ({ reader, state: "in reading" as const }));
  assert.ok(canRead(row("a"), room("single", "reader")));
  assert.ok(!canRead(row("a", { state: "signed" }), room("single", "reader")));
  assert.ok(!canRead(row("a", { readable: false }), room("single", "reader")));
  assert.ok(canRead(row("a", { readers: [own!, other!] }), room("blind", "reader")));
  assert.ok(!canRead(row("a", { readers: [other!, third!] }), room("blind", "reader")));
  assert.ok(!canRead(row("a", { readers: [other!, third!] }), room("blind", "consensus")));
  const signed = [other!, third!].map((one) => ({ ...one, state: "signed" as const }));
  assert.ok(canRead(row("a", { readers: signed }), room("blind", "consensus")));
});
