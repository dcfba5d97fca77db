import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import type { Action, Content, FindingContent, Reading } from "../src/api/types.ts";
import { judge } from "../src/model/clear.ts";
import { rankExams } from "../src/list/rows.ts";
import { withAction } from "../src/model/reading.ts";
import { spansOf, withFrame } from "../src/model/subjects.ts";
import { makeViewed, parseBits } from "../src/saving/viewed.ts";
import { clock, count, share, value } from "../src/model/words.ts";
import { GROUPS, keyName } from "../src/keymap.ts";

const EMPTY: Reading = {
  exam: "e", revision: 1, state: "unread", decisions: {}, findings: [], landmarks: {},
  cleanliness: { segments: {}, sum: null, words: null }, notes: [], urgent: false, urgent_text: "", signature: null,
  signatures: [], elsewhere: [],
  undoable: null, redoable: null, problems: [], misfits: [],
  readers: [], statement: "", to_validate: [], last: 0, offered: [], states: [],
  progress: {
    events: 0, offered: 0, opened: 0, decided: 0, to_read: 0, to_read_displayed: 0, to_read_viewed: 0,
    frames: 10, displayed: 0, viewed: 0, without_picture: 0,
  },
};
const BY = { reader: "A", role: "reader", time: "2026-01-01T00:00:00Z" };
const act = (...entries: Content[]): Action => ({ key: "k", entries });
const decide = (subject: string, decision: "accept" | "reject" | "unsure"): Content => ({ kind: "decision", subject, decision, frame: 1, finding: null });
const finding = (name: string, frame: number): FindingContent => ({
  kind: "finding", subject: `finding:${name}`, spans: spansOf(0, [frame]), best: { head: 0, frame }, size: null, size_on: null,
  paris: null, segment: null, place: null, urgent: false, note: "", missed: false,
});

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

test("a decision begins the reading, and can be removed", () => {
  const one = withAction(EMPTY, act(decide("event:0:1", "accept")), BY);
  assert.equal(one.state, "in reading");
  assert.equal(one.decisions["event:0:1"]?.content.decision, "accept");
  const two = withAction(one, act({ kind: "removed", of: "decision", subject: "event:0:1" }), BY);
  assert.deepEqual(two.decisions, {});
  assert.deepEqual(EMPTY.decisions, {}, "the old reading stays as it was");
});

test("all entries of an action count, the last one of a finding in its place", () => {
  let reading = withAction(EMPTY, act(finding("a", 1), finding("b", 2), decide("event:0:1", "accept")), BY);
  reading = withAction(reading, act(finding("a", 9)), BY);
  assert.deepEqual(reading.findings.map(({ content }) => [content.subject, content.best.frame]), [["finding:a", 9], ["finding:b", 2]]);
  reading = withAction(reading, act({ kind: "removed", of: "finding", subject: "finding:a" }, decide("event:0:1", "reject")), BY);
  assert.deepEqual(reading.findings.map(({ content }) => content.subject), ["finding:b"]);
  assert.equal(reading.decisions["event:0:1"]?.content.decision, "reject");
});

test("frames are written as spans", () => {
  assert.deepEqual(spansOf(1, [5, 3, 4, 9]), [{ head: 1, first: 3, last: 5 }, { head: 1, first: 9, last: 9 }]);
  assert.deepEqual(withFrame(spansOf(1, [3, 5]), 1, 4), [{ head: 1, first: 3, last: 5 }]);
  assert.deepEqual(withFrame(spansOf(1, [3]), 0, 7), [{ head: 0, first: 7, last: 7 }, { head: 1, first: 3, last: 3 }]);
});

test("urgent exams come first, signed ones last", () => {
  const row = (exam: string, state: string, urgent: boolean, events: number) => ({ exam, state, urgent, events }) as never;
  const rows = [row("a", "signed", true, 9), row("b", "unread", false, 2), row("c", "unread", false, 5), row("d", "in reading", false, 0), row("e", "unread", true, 0)];
  assert.deepEqual(rankExams(rows).map(({ exam }) => exam), ["e", "d", "c", "b", "a"]);
});

test("frames count as displayed at once, and as viewed after 45 ms", () => {
  let now = 0;
  const earlier = new Map([[0, new Uint8Array(8)]]);
  const viewed = makeViewed(earlier, () => now);
  for (const [frame, rate] of [[0, 30], [1, 20], [2, 30]] as const) {
    viewed.show([{ head: 0, frame }]);
    now += 1000 / rate;
  }
  viewed.hide();
  now += 900;
  assert.deepEqual(viewed.take(), [{ head: 0, displayed: spansOf(0, [0, 1, 2]), viewed: spansOf(0, [1]) }]);
  assert.deepEqual([...(viewed.displayed(0) ?? [])], [1, 1, 1, 0, 0, 0, 0, 0]);
});

test("a page that rests on a frame has nothing more to send", () => {
  let now = 0;
  const viewed = makeViewed(new Map([[0, new Uint8Array(8)]]), () => now);
  viewed.show([{ head: 0, frame: 3 }]);
  now = 4000;
  assert.deepEqual(viewed.take(), [{ head: 0, displayed: spansOf(0, [3]), viewed: spansOf(0, [3]) }]);
  now = 8000;
  assert.deepEqual(viewed.take(), []);
});

test("bitmaps have the first frame in bit 0", () => {
  const text = Buffer.from([0b00000101, 0b1]).toString("base64");
  assert.deepEqual([...parseBits(text, 10)], [1, 0, 1, 0, 0, 0, 0, 0, 1, 0]);
});

// The reports write a share as the page does: tests/report/test_text.py reads the same file.
const SHARES = readFileSync(new URL("shares.txt", import.meta.url), "utf-8");

test("numbers as people write them", () => {
  assert.equal(clock(3723.9), "1:02:03");
  assert.equal(clock(59.9), "0:00:59");
  assert.equal(count(50000), "50\u202f000");
  assert.equal(value(0.12345), "0.123");
  assert.equal(value(37), "37");
  for (const line of SHARES.trim().split("\n")) {
    const [part, whole, ...words] = line.split(" ");
    assert.equal(share(Number(part), Number(whole)), words.join(" "), line);
  }
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
