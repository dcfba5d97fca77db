// Playback over a sequence. A step is left only after it was drawn: if frames come late, playback
// slows down.

import { signal, type Signal } from "@preact/signals";
import { stepOf, type Sequence } from "../model/sequence.ts";
import { makeClock } from "./clock.ts";
import type { Frames, Picture, Spot } from "./frames.ts";

export type Direction = -1 | 0 | 1;

export interface Shown {
  step: number;
  spots: Spot[];
}

export interface Player {
  sequence(): Sequence;
  /** Change the order; the given step of the new one is shown. */
  setSequence(sequence: Sequence, step: number): void;
  /** Show a step. */
  go(step: number): void;
  /** Show the key frames nearest before a step, under their own numbers, until `go` is called. */
  drag(step: number): void;
  /** Go on by so many steps, unless the last asked for is not yet drawn: nothing is skipped. */
  by(steps: number): void;
  play(direction: Direction): void;
  setRate(fps: number): void;
  shown: Signal<Shown | null>;
  playing: Signal<Direction>;
  /** Playback waits for frames. */
  late: Signal<boolean>;
  measured(): number;
  /** What was asked for is not on the screen yet. */
  waiting(): boolean;
  close(): void;
}

const AHEAD = 96;
const BEHIND = 4;
const LATE_AFTER = 250;

export function makePlayer(
  frames: Frames,
  draw: (spots: Spot[], pictures: Picture[]) => void,
  fps: number,
  likely: () => Spot[],
): Player {
  let sequence: Sequence = { length: 0, heads: [], frames: [] };
  let target = 0;
  let pending = false;
  let dragging = false;
  let asked = 0; // since when the pending step is waited for
  let request = 0;
  let stopped = false;
  let heading: -1 | 1 = 1;
  const clock = makeClock(fps);
  const shown = signal<Shown | null>(null);
  const playing = signal<Direction>(0);
  const late = signal(false);

  const spotsAt = (step: number): Spot[] =>
    sequence.heads.map((head, i) => ({ head, frame: sequence.frames[i]?.[step] as number }));

  const want = (): void => {
    const spots: Spot[] = spotsAt(target);
    const reach = playing.value === 0 ? 12 : AHEAD;
    for (let i = 1; i <= reach; i++) {
      const ahead = target + i * heading;
      if (ahead >= 0 && ahead < sequence.length) spots.push(...spotsAt(ahead));
      const behind = target - i * heading;
      if (i <= BEHIND && behind >= 0 && behind < sequence.length) spots.push(...spotsAt(behind));
    }
    // While one looks at a frame, what comes next is fetched too: the best frames of other events.
    frames.want(playing.value === 0 ? [...spots, ...likely()] : spots);
  };

  const tick = (now: number): void => {
    request = 0;
    if (stopped || sequence.length === 0) return;
    const direction = playing.value;
    if (!pending && direction !== 0 && clock.due(now)) {
      const next = target + direction;
      if (next < 0 || next >= sequence.length) playing.value = 0;
      else {
        target = next;
        pending = true;
        asked = now;
        want();
      }
    }
    if (pending && !dragging) {
      const spots = spotsAt(target);
      const pictures = spots.map((spot) => frames.ready(spot));
      if (pictures.every((picture) => picture !== undefined)) {
        draw(spots, pictures);
        pending = false;
        clock.drawn(now);
        late.value = false;
        shown.value = { step: target, spots };
      } else if (now - asked > LATE_AFTER) late.value = true;
    }
    if ((pending && !dragging) || playing.value !== 0) schedule();
  };

  const schedule = (): void => {
    if (request === 0 && !stopped) request = requestAnimationFrame(tick);
  };

  const aim = (step: number): void => {
    const next = Math.min(Math.max(step, 0), sequence.length - 1);
    if (next !== target) heading = next < target ? -1 : 1;
    target = next;
    pending = true;
    asked = performance.now();
  };

  const go = (step: number): void => {
    if (sequence.length === 0) return;
    aim(step);
    dragging = false;
    want();
    schedule();
  };

  frames.onready = schedule;
  frames.ondragged = (spots, pictures) => {
    const [first] = spots;
    if (!dragging || stopped || first === undefined) return;
    draw(spots, pictures);
    shown.value = { step: stepOf(sequence, first.head, first.frame), spots };
  };

  return {
    sequence: () => sequence,
    setSequence(next, step) {
      sequence = next;
      if (sequence.length === 0) playing.value = 0;
      go(step);
    },
    go(step) {
      clock.start(performance.now());
      go(step);
    },
    drag(step) {
      if (sequence.length === 0) return;
      playing.value = 0;
      aim(step);
      dragging = true;
      late.value = false;
      frames.drag(spotsAt(target));
    },
    by(steps) {
      if (!pending) go(target + steps);
    },
    play(direction) {
      if (direction !== 0) {
        heading = direction;
        clock.start(performance.now());
      }
      playing.value = direction;
      dragging = false;
      if (sequence.length > 0) want();
      schedule();
    },
    setRate: (rate) => clock.setRate(rate),
    shown,
    playing,
    late,
    measured: () => clock.measured(performance.now()),
    waiting: () => pending,
    close() {
      stopped = true;
      cancelAnimationFrame(request);
      frames.close();
    },
  };
}
