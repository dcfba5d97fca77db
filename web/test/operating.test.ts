import assert from "node:assert/strict";
import test from "node:test";
import type { Columns } from "../src/api/columns.ts";
import { framesAbove, reach, workAt } from "../src/model/operating.ts";

const none = (n: number): Float64Array => new Float64Array(n).fill(NaN);

test("flagged frames at most three apart are one event", () => {
  const scores = Float32Array.from([5, 0, 0, 5, 0, 0, 0, 5]);
  assert.deepEqual(workAt(scores, none(8), 5), { frames: 3, events: 2 });
});

test("frames a second apart or less are one event, however many lie between", () => {
  const scores = new Float32Array(40);
  scores[0] = scores[20] = 9;
  const fast = Float64Array.from({ length: 40 }, (_, i) => i / 20);
  const slow = Float64Array.from({ length: 40 }, (_, i) => i / 19);
  assert.equal(workAt(scores, fast, 9).events, 1);
  assert.equal(workAt(scores, slow, 9).events, 2);
});

test("the threshold itself is flagged; above the highest score nothing is", () => {
  const scores = Float32Array.from([1, 2, 3]);
  assert.deepEqual(workAt(scores, none(3), 3), { frames: 1, events: 1 });
  assert.deepEqual(workAt(scores, none(3), 3.1), { frames: 0, events: 0 });
});

test("frames that were never scored are flagged at no threshold", () => {
  const columns = {
    frames: 4, reasons: ["polyp", "texture-high", "score-low"], score: Float32Array.from([9, 9, NaN, NaN]),
    flagged: Uint8Array.from([1, 0, 0, 0]), reason: Uint8Array.from([0, 1, 2, 0]),
  } as unknown as Columns;
  assert.deepEqual([...reach(columns)], [9, -Infinity, -Infinity, -Infinity]);
});

test("the curve counts what counting frame by frame counts", () => {
  const lists = [0, 1].map((seed) => Float32Array.from({ length: 500 }, (_, i) => ((i * 37 + seed * 11) % 101) / 100));
  const thresholds = Float64Array.from({ length: 30 }, (_, i) => i / 25);
  const slow = [...thresholds].map((t) => lists.reduce((n, list) => n + list.filter((s) => s >= t).length, 0));
  assert.deepEqual(framesAbove(lists, thresholds), slow);
});
