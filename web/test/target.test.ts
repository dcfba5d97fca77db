import assert from "node:assert/strict";
import test from "node:test";
import { signal } from "@preact/signals";
import type { Columns } from "../src/api/columns.ts";
import type { SieveEvent } from "../src/api/types.ts";
import { makeTarget } from "../src/exam/target.ts";
import { eventsByFrame, inTurn } from "../src/model/events.ts";
import type { Drawn, Request } from "../src/play/player.ts";

/** Numbers that look random, and are the same in each run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (1103515245 * state + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
}

/** Events of a head, with gaps, side by side and in each other. */
function randomHead(head: number, below: (n: number) => number, first: number) {
  const frames = 20 + below(60);
  const event = Int32Array.from({ length: frames }, () => (below(3) > 0 ? -1 : first + below(6)));
  const events: SieveEvent[] = [];
  for (let number = first; number < first + 6; number++) {
    const own = [...event.keys()].filter((frame) => event[frame] === number);
    if (own.length === 0) continue;
    const [first_frame, last_frame] = [own[0] as number, own.at(-1) as number];
    events.push({ event: number, head, first_frame, last_frame, best_frame: own[below(own.length)] } as SieveEvent);
  }
  return { frames, table: { event } as Columns, events };
}

test("each frame belongs to its own event, or to the shortest one around it, or to none", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const below = random(seed);
    const [one, other] = [randomHead(0, below, 0), randomHead(1, below, 6)];
    const events = [...one.events, ...other.events];
    for (const [head, { frames, table }] of [one, other].entries()) {
      const found = eventsByFrame(head, table, events);
      for (let frame = 0; frame < frames; frame++) {
        const here = events[found[frame] as number];
        const around = events.filter((e) => e.head === head && e.first_frame <= frame && frame <= e.last_frame);
        const length = (e: SieveEvent) => e.last_frame - e.first_frame;
        if (table.event[frame] !== -1) assert.equal(here?.event, table.event[frame]);
        else if (around.length === 0) assert.equal(here, undefined);
        else assert.equal(here && length(here), Math.min(...around.map(length)));
        assert.ok(here === undefined || around.includes(here));
      }
    }
  }
});

test("a decision is about the drawn frame of the active head, with a picture, and nothing else", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const below = random(seed);
    const tables = [randomHead(0, below, 0), randomHead(1, below, 6)];
    const events = tables.flatMap((each) => each.events);
    const byFrame = new Map(tables.map(({ table }, head) => [head, eventsByFrame(head, table, events)]));
    const [requested, dragging, active] = [signal<Request>({ step: 0 }), signal(false), signal(0)];
    const drawn = signal<Drawn | null>(null);
    const { target } = makeTarget({ requested, dragging, drawn, active, events, eventsByFrame: byFrame });
    assert.equal(target.value, null);
    for (let turn = 0; turn < 40; turn++) {
      const kind = below(5);
      if (kind === 0) active.value = below(2);
      else if (kind === 1) dragging.value = below(3) === 0;
      else if (kind === 2) requested.value = { step: below(9) };
      else {
        const spots = tables.map(({ frames }, head) => ({ head, frame: below(frames), visible: below(4) > 0 }));
        const request = kind === 3 ? requested.value : null;
        drawn.value = { step: request?.step ?? 0, spots: below(3) === 0 ? spots.slice(0, 1) : spots, request };
      }
      const spot = drawn.value?.spots.find(({ head }) => head === active.value);
      const event = spot && events[byFrame.get(spot.head)?.[spot.frame] as number];
      const may = !dragging.value && drawn.value?.request === requested.value && spot?.visible && event;
      assert.deepEqual(target.value, may ? { event, frame: spot.frame } : null);
    }
  }
});

test("a new request for the same step is not drawn yet", () => {
  const [requested, dragging, active] = [signal<Request>({ step: 3 }), signal(false), signal(0)];
  const drawn = signal<Drawn | null>({ step: 3, spots: [{ head: 0, frame: 3, visible: true }], request: requested.value });
  const { settled } = makeTarget({ requested, dragging, drawn, active, events: [], eventsByFrame: new Map() });
  assert.ok(settled.value);
  requested.value = { step: 3 };
  assert.ok(!settled.value);
});

test("a list goes on round its end", () => {
  assert.deepEqual(inTurn([4, 1, 7], 1), [7, 4, 1]);
  assert.deepEqual(inTurn([4, 1, 7], -1), [4, 1, 7]);
});
