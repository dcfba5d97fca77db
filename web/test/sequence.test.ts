import assert from "node:assert/strict";
import test from "node:test";
import type { Columns } from "../src/api/columns.ts";
import { filtered, inStep, paired, single, stepOf } from "../src/model/sequence.ts";

const times = (frames: number, fps: number, start = 0): Float64Array =>
  Float64Array.from({ length: frames }, (_, i) => start + i / fps);

function table(flagged: number[], duplicate_of = flagged.map(() => -1)): Columns {
  const n = flagged.length;
  return {
    frames: n, reasons: [], time_s: new Float64Array(n), score: new Float32Array(n), flagged: Uint8Array.from(flagged),
    reason: new Uint8Array(n), event: new Int32Array(n), duplicate_of: Int32Array.from(duplicate_of), rgb: new Uint8Array(3 * n),
    status: new Uint8Array(n),
  };
}

for (const [name, a, b] of [
  ["equal rates", times(40, 4), times(40, 4, 0.1)],
  ["one head six times as fast", times(40, 4), times(240, 24)],
  ["one head that begins late", times(40, 4, 5), times(60, 4)],
  ["one head that ends early", times(3, 4), times(30, 4)],
] as const) {
  test(`two heads: no frame is left out, none goes back (${name})`, () => {
    const { frames, length } = paired([0, 1], a, b);
    for (const [list, count] of [[frames[0], a.length], [frames[1], b.length]] as const) {
      assert.deepEqual([...new Set(list)], Array.from({ length: count }, (_, i) => i));
      for (let i = 1; i < length; i++) assert.ok([0, 1].includes((list?.[i] ?? 0) - (list?.[i - 1] ?? 0)));
    }
  });
}

test("heads of equal rate go together", () => {
  assert.equal(paired([0, 1], times(40, 4), times(40, 4, 0.1)).length, 40);
});

test("heads are shown at nearly the same time", () => {
  const [a, b] = [times(100, 4), times(300, 11, 0.03)];
  const { frames, length } = paired([0, 1], a, b);
  for (let i = 0; i < length; i++) {
    const apart = (a[frames[0]?.[i] ?? 0] as number) - (b[frames[1]?.[i] ?? 0] as number);
    if (i > 3 && (frames[1]?.[i] ?? 0) < 290 && (frames[0]?.[i] ?? 0) < 99) assert.ok(Math.abs(apart) <= 0.26);
  }
});

test("flagged frames alone, with and without near-duplicates", () => {
  const columns = new Map([[0, table([0, 1, 1, 0, 1], [-1, -1, 1, -1, -1])]]);
  assert.deepEqual([...(filtered(single(0, 5), "flagged", columns).frames[0] ?? [])], [1, 2, 4]);
  assert.deepEqual([...(filtered(single(0, 5), "to read", columns).frames[0] ?? [])], [1, 4]);
  assert.equal(filtered(single(0, 5), "all", columns).length, 5);
});

test("a near-duplicate of a frame that is not flagged or of another event is to be read", () => {
  const columns = table([0, 1, 1, 1], [-1, 0, 1, 2]);
  columns.event.set([-1, 1, 1, 2]);
  assert.deepEqual([...(filtered(single(0, 4), "to read", new Map([[0, columns]])).frames[0] ?? [])], [1, 3]);
});

test("a step counts when either head is flagged", () => {
  const columns = new Map([[0, table([1, 0, 0])], [1, table([0, 0, 1])]]);
  const all = paired([0, 1], times(3, 4), times(3, 4));
  assert.deepEqual(filtered(all, "flagged", columns).frames.map((list) => [...list]), [[0, 2], [0, 2]]);
});

test("the step of a frame, or of the next one that is shown", () => {
  const columns = new Map([[0, table([0, 1, 1, 0, 1])]]);
  const flagged = filtered(single(0, 5), "flagged", columns);
  assert.deepEqual([0, 1, 2, 3, 4].map((frame) => stepOf(flagged, 0, frame)), [0, 0, 1, 2, 2]);
});

test("the other head stands at the same time", () => {
  assert.equal(inStep(times(100, 4), 40, times(600, 24)), 240);
  assert.equal(inStep(times(100, 4), 99, times(10, 4)), 9);
});
