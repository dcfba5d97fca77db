import assert from "node:assert/strict";
import test from "node:test";
import { makeClock } from "../src/play/clock.ts";
import { makeRing } from "../src/play/ring.ts";

/** Draw whenever due, looking every `look` milliseconds; frames are ready only when `ready` says. */
function play(fps: number, seconds: number, look: number, ready: (now: number) => boolean = () => true): number[] {
  const clock = makeClock(fps);
  clock.start(0);
  const drawn: number[] = [];
  for (let now = 0; now <= 1000 * seconds; now += look) {
    if (!clock.due(now) || !ready(now)) continue;
    clock.drawn(now);
    drawn.push(now);
  }
  return drawn;
}

for (const fps of [1, 4, 10, 24, 30]) {
  test(`${fps} frames per second hold on a screen of 60 Hz`, () => {
    const drawn = play(fps, 20, 1000 / 60);
    assert.ok(Math.abs(drawn.length - 20 * fps) <= 1 + 0.01 * fps * 20, String(drawn.length));
  });
}

test("after a stall playback does not hurry to catch up", () => {
  const drawn = play(10, 10, 5, (now) => now < 2000 || now > 5000);
  const after = drawn.filter((now) => now > 5000);
  for (let i = 1; i < after.length; i++) {
    assert.ok((after[i] as number) - (after[i - 1] as number) >= 90, "frames come closer than their interval");
  }
  assert.ok(drawn.length <= 72);
});

test("a change of speed counts from the next frame", () => {
  const clock = makeClock(1);
  clock.start(0);
  clock.setRate(20);
  assert.ok(!clock.due(40));
  assert.ok(clock.due(50));
});

test("speed stays between one and thirty", () => {
  const clock = makeClock(10);
  clock.setRate(1000);
  clock.start(0);
  assert.ok(!clock.due(30));
  assert.ok(clock.due(34));
});

test("the measured rate is what was drawn", () => {
  const clock = makeClock(30);
  for (let now = 0; now <= 1000; now += 100) clock.drawn(now);
  assert.ok(Math.abs(clock.measured(1000) - 10) < 1e-9);
});

test("a ring closes what it gives up, once, the longest unused first", () => {
  const closed: string[] = [];
  const ring = makeRing<string>(3, () => 1, (value) => void closed.push(value));
  for (const name of ["a", "b", "c"]) ring.put(name, name);
  ring.get("a");
  ring.put("d", "d");
  assert.deepEqual(closed, ["b"]);
  assert.ok(ring.has("a"));
  ring.clear();
  assert.deepEqual(closed.toSorted(), ["a", "b", "c", "d"]);
});

test("ten thousand frames leave no more than the ring holds", () => {
  let alive = 0;
  const ring = makeRing<{ size: number }>(64, ({ size }) => size, () => void alive--);
  for (let i = 0; i < 10_000; i++) {
    alive++;
    ring.put(String(i), { size: 1 });
    assert.ok(alive <= 64);
  }
});

test("a value put in place of another closes it", () => {
  const closed: number[] = [];
  const ring = makeRing<number>(3, () => 1, (value) => void closed.push(value));
  ring.put("a", 1);
  ring.put("a", 2);
  assert.deepEqual(closed, [1]);
  assert.equal(ring.weight, 1);
});

test("weights bound the ring, and the newest is always kept", () => {
  const ring = makeRing<number>(10, (value) => value, () => {});
  ring.put("a", 6);
  ring.put("b", 6);
  assert.ok(!ring.has("a"));
  ring.put("c", 50);
  assert.ok(ring.has("c") && ring.size === 1);
});
