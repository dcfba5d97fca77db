import assert from "node:assert/strict";
import test from "node:test";
import type { Action, Reading, SieveEvent } from "../src/api/types.ts";
import { judge } from "../src/model/clear.ts";
import { nextUndecided, rankExams } from "../src/model/rank.ts";
import { withAction } from "../src/model/reading.ts";
import { makeLedger, parseSeen } from "../src/saving/ledger.ts";
import { clock, count, share, value } from "../src/model/words.ts";
import { GROUPS, keyName } from "../src/keymap.ts";

const EMPTY: Reading = {
  exam: "e", version: 1, state: "unread", verdicts: {}, findings: [], landmarks: {},
  cleanliness: { segments: {}, sum: null, words: null }, notes: [], urgent: false, signature: null,
  undoable: null, redoable: null, seen: { frames: 0, of: 10 },
};
const BY = { reader: "A", time: "2026-01-01T00:00:00Z" };
const act = (kind: Action["kind"], subject: string, content: Record<string, unknown>): Action => ({ key: "k", kind, subject, content });

test("CC-CLEAR: every sum has the words of the paper", () => {
  for (let right = 0; right <= 3; right++) {
    for (let transverse = 0; transverse <= 3; transverse++) {
      for (let left = 0; left <= 3; left++) {
        const sum = right + transverse + left;
        const inadequate = sum <= 5 || Math.min(right, transverse, left) <= 1;
        const words = inadequate ? "inadequate" : sum >= 8 ? "excellent" : "good";
        assert.deepEqual(judge({ right, transverse, left }), { sum, words });
      }
    }
  }
  assert.deepEqual(judge({ right: 3, left: null }), { sum: null, words: null });
});

test("a verdict begins the reading, and null takes it back", () => {
  const one = withAction(EMPTY, act("verdict", "event:0:1-4", { verdict: "accept" }), BY);
  assert.equal(one.state, "in reading");
  assert.equal(one.verdicts["event:0:1-4"]?.verdict, "accept");
  const two = withAction(one, act("verdict", "event:0:1-4", { verdict: null }), BY);
  assert.deepEqual(two.verdicts, {});
  assert.deepEqual(EMPTY.verdicts, {}, "the old reading stays as it was");
});

test("the last entry of a finding counts, and keeps its place", () => {
  let reading = withAction(EMPTY, act("finding", "finding:a", { best_frame: 1 }), BY);
  reading = withAction(reading, act("finding", "finding:b", { best_frame: 2 }), BY);
  reading = withAction(reading, act("finding", "finding:a", { best_frame: 9 }), BY);
  assert.deepEqual(reading.findings.map((f) => [f.id, f.best_frame]), [["a", 9], ["b", 2]]);
  reading = withAction(reading, act("finding", "finding:a", { removed: true }), BY);
  assert.deepEqual(reading.findings.map((f) => f.id), ["b"]);
});

test("the next undecided event is looked for round the end", () => {
  const events = [0, 1, 2].map((i) => ({ event: i, head: 0, first_frame: 10 * i, last_frame: 10 * i + 5 }) as SieveEvent);
  const reading = withAction(EMPTY, act("verdict", "event:0:20-25", { verdict: "reject" }), BY);
  assert.equal(nextUndecided(events, reading, 1), 0);
  assert.equal(nextUndecided(events, reading, -1), 0);
  const done = ["0-5", "10-15"].reduce((r, name) => withAction(r, act("verdict", `event:0:${name}`, { verdict: "unsure" }), BY), reading);
  assert.equal(nextUndecided(events, done, 0), -1);
});

test("urgent exams come first, signed ones last", () => {
  const row = (exam: string, state: string, urgent: boolean, events: number) => ({ exam, state, urgent, events }) as never;
  const rows = [row("a", "signed", true, 9), row("b", "unread", false, 2), row("c", "unread", false, 5), row("d", "in reading", false, 0), row("e", "unread", true, 0)];
  assert.deepEqual(rankExams(rows).map(({ exam }) => exam), ["e", "d", "c", "b", "a"]);
});

test("the ledger adds up what stood on the screen, and nothing while hidden", () => {
  let now = 0;
  const sums = new Map([[0, new Float32Array(5)]]);
  const ledger = makeLedger(sums, () => now);
  ledger.show([{ head: 0, frame: 3 }]);
  now = 100;
  ledger.show([{ head: 0, frame: 4 }]);
  now = 150;
  ledger.hide();
  now = 900;
  ledger.show([{ head: 0, frame: 3 }]);
  now = 920;
  assert.deepEqual(ledger.take(), [{ head: 0, frames: [[3, 120], [4, 50]] }]);
  assert.deepEqual(ledger.take(), []);
  assert.equal(sums.get(0)?.[3], 120);
});

test("the server's sums are read as float32", () => {
  const text = Buffer.from(new Float32Array([0, 1.5, 40]).buffer).toString("base64");
  assert.deepEqual([...parseSeen(text, 3)], [0, 1.5, 40]);
});

test("numbers as people write them", () => {
  assert.equal(clock(3723.9), "1:02:03");
  assert.equal(clock(59.9), "0:59");
  assert.equal(count(50000), "50\u202f000");
  assert.equal(value(0.12345), "0.123");
  assert.equal(value(37), "37");
  assert.equal(share(1, 1000), "below 1 %");
  assert.equal(share(999, 1000), "99 %");
});

test("no key has two meanings", () => {
  const keys = GROUPS.flatMap(({ bindings }) => bindings.flatMap((binding) => binding.keys));
  assert.equal(new Set(keys).size, keys.length);
});

test("keys are named the same whatever the layout adds", () => {
  const press = (key: string, more: object = {}) => keyName({ key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...more });
  assert.equal(press("a"), "A");
  assert.equal(press("A", { shiftKey: true }), "Shift+A");
  assert.equal(press("?", { shiftKey: true }), "?");
  assert.equal(press("Z", { shiftKey: true, metaKey: true }), "Ctrl+Shift+Z");
  assert.equal(press("ArrowRight", { shiftKey: true }), "Shift+→");
  assert.equal(press(" "), "Space");
});
