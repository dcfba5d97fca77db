import assert from "node:assert/strict";
import test from "node:test";
import { follow, type Stream, type Watching } from "../src/api/changes.ts";

/** A window that can be hidden, and streams that say what they are told to. */
function setting(hidden = false) {
  const streams: (Stream & { address: string; closed: boolean })[] = [];
  const told: string[] = [];
  let changed: (() => void) | null = null;
  const page: Watching & { hidden: boolean } = {
    hidden,
    addEventListener: (_, listener) => void (changed = listener),
    removeEventListener: () => void (changed = null),
  };
  const stop = follow({
    heard: ({ number }) => void told.push(`heard ${number}`),
    connected: (yes) => void told.push(yes ? "up" : "down"),
    page,
    open: (address) => {
      const stream = { address, closed: false, onopen: null, onmessage: null, onerror: null, close: () => void (stream.closed = true) };
      streams.push(stream);
      return stream;
    },
  });
  const say = (number: number): void =>
    streams.at(-1)?.onmessage?.({ data: JSON.stringify({ number, exam: "e" }) } as MessageEvent<string>);
  const show = (yes: boolean): void => {
    page.hidden = !yes;
    changed?.();
  };
  const up = (): void => streams.at(-1)?.onopen?.({} as Event);
  return { streams, told, say, show, up, stop, lines: () => streams.filter(({ closed }) => !closed).length };
}

test("a hidden window holds no line, and asks for what it missed when it is seen again", () => {
  const { streams, told, say, show, up, lines, stop } = setting();
  up();
  say(7);
  show(false);
  assert.equal(lines(), 0);
  show(true);
  assert.equal(lines(), 1);
  assert.equal(streams.at(-1)?.address, "api/changes?after=7");
  up();
  assert.deepEqual(told, ["up", "heard 7", "down", "up"]);
  stop();
  show(true);
  assert.equal(lines(), 0);
});

test("a window that is opened in the background begins when it is seen", () => {
  const { told, show, up, lines } = setting(true);
  assert.equal(lines(), 0);
  show(true);
  up();
  assert.equal(lines(), 1);
  assert.deepEqual(told, ["down", "up"], "so that the page looks at what came meanwhile");
});

test("a line that broke is opened again, but not while the window is hidden", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { streams, show, lines } = setting();
  streams[0]?.onerror?.({} as Event);
  assert.equal(lines(), 0);
  t.mock.timers.tick(2000);
  assert.equal(lines(), 1);
  streams[1]?.onerror?.({} as Event);
  show(false);
  t.mock.timers.tick(10_000);
  assert.equal(lines(), 0);
});
