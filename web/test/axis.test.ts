import assert from "node:assert/strict";
import test from "node:test";
import { follow, pan, pixelRanges, span, ticks, toPixel, toPosition, zoom } from "../src/model/axis.ts";
import { firstFrom, nearest, secondsOf } from "../src/model/positions.ts";

const whole = { low: 0, high: 100 };

test("pixels and positions are each other's inverse", () => {
  const view = { low: 12.5, high: 60 };
  for (const pixel of [0, 1, 333, 799]) {
    assert.ok(Math.abs(toPixel(view, toPosition(view, pixel, 800), 800) - pixel) < 1e-9);
  }
});

test("zooming keeps what is under the pointer", () => {
  const view = { low: 20, high: 60 };
  const zoomed = zoom(view, 30, 0.5, whole, 1);
  assert.equal(span(zoomed), 20);
  assert.ok(Math.abs(toPixel(view, 30, 800) - toPixel(zoomed, 30, 800)) < 1e-9);
});

test("a view never leaves the exam, nor gets smaller than the least", () => {
  assert.deepEqual(zoom({ low: 0, high: 10 }, 2, 100, whole, 1), whole);
  assert.equal(span(zoom({ low: 0, high: 10 }, 2, 1e-6, whole, 4)), 4);
  assert.deepEqual(pan({ low: 80, high: 90 }, 50, whole), { low: 90, high: 100 });
  assert.deepEqual(pan({ low: 5, high: 15 }, -50, whole), { low: 0, high: 10 });
});

test("the view follows only when it must", () => {
  const view = { low: 20, high: 40 };
  assert.equal(follow(view, 35, whole), view);
  assert.deepEqual(follow(view, 70, whole), { low: 60, high: 80 });
});

test("every frame in view is behind some pixel", () => {
  const positions = Float64Array.from({ length: 1000 }, (_, i) => i / 10);
  const ranges = pixelRanges(positions, { low: 20, high: 60 }, 77);
  const seen = new Set<number>();
  for (let pixel = 0; pixel < 77; pixel++) {
    for (let i = ranges[2 * pixel] as number; i < (ranges[2 * pixel + 1] as number); i++) seen.add(i);
  }
  for (let i = 200; i < 600; i++) assert.ok(seen.has(i), `frame ${i}`);
});

test("a pixel between two frames shows the earlier one", () => {
  const ranges = pixelRanges(Float64Array.from([0, 10, 20]), { low: 0, high: 20 }, 20);
  assert.deepEqual([ranges[2 * 5], ranges[2 * 5 + 1]], [0, 1]);
  assert.deepEqual([ranges[2 * 15], ranges[2 * 15 + 1]], [1, 2]);
});

test("pixels before the first frame show nothing", () => {
  const ranges = pixelRanges(Float64Array.from([50, 51]), whole, 100);
  assert.equal(ranges[2 * 10], ranges[2 * 10 + 1]);
});

test("ticks are round and lie in the view", () => {
  assert.deepEqual(ticks({ low: 50, high: 400 }, 6, true), [60, 120, 180, 240, 300, 360]);
  assert.deepEqual(ticks({ low: 0, high: 50000 }, 5, false), [0, 10000, 20000, 30000, 40000, 50000]);
});

test("unknown times lie between their neighbours", () => {
  const times = Float64Array.from([NaN, 1, NaN, NaN, 4, NaN]);
  assert.deepEqual([...secondsOf(times)], [0, 1, 2, 3, 4, 5]);
});

test("a clock that jumps back is not followed", () => {
  const seconds = secondsOf(Float64Array.from([0, 1, 0.2, 3]));
  assert.deepEqual([...seconds], [0, 1, 2, 3]);
});

test("without any time frames stand at their numbers", () => {
  assert.deepEqual([...secondsOf(Float64Array.from([NaN, NaN, NaN]))], [0, 1, 2]);
});

test("the nearest frame agrees with a search through all", () => {
  const positions = Float64Array.from([0, 0.4, 1.1, 5, 5, 9]);
  for (let at = -1; at < 11; at += 0.17) {
    const best = [...positions].reduce((a, p) => Math.min(a, Math.abs(p - at)), Infinity);
    assert.equal(Math.abs((positions[nearest(positions, at)] as number) - at), best);
    assert.equal(firstFrom(positions, at), [...positions].filter((p) => p < at).length);
  }
});
