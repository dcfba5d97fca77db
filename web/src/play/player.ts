// Playback over a sequence. A step is left only after it was drawn: if frames come late, playback
// slows down.

import { batch, signal, type ReadonlySignal } from "@preact/signals";
import { stepOf, type Sequence } from "../model/sequence.ts";
import { makeClock } from "./clock.ts";
import type { Frames, Picture, Spot } from "./frames.ts";

export type Direction = -1 | 0 | 1;

/** A step to show. Each request is an object of its own. */
export interface Request {
  readonly step: number;
}

export interface DrawnSpot extends Spot {
  /** There is a picture, and not the reason why there is none. */
  readonly visible: boolean;
}

/** What is on the screen. */
export interface Drawn {
  step: number;
  spots: readonly DrawnSpot[];
  /** The request that is drawn; null for key frames while the pointer drags. */
  request: Request | null;
}

export interface Player {
  sequence(): Sequence;
  /** Change the order; the given step of the new one is shown. */
  setSequence(sequence: Sequence, step: number): void;
  /** Show a step. */
  go(step: number): void;
  /** Show the key frames nearest before a step, under their own numbers, until `go` is called. */
  drag(step: number): void;
  /** Move by so many steps, unless the last request is not drawn yet: nothing is skipped. */
  by(steps: number): void;
  /** Play, up to and including `last`. */
  play(direction: Direction, last?: number): void;
  setRate(fps: number): void;
  requested: ReadonlySignal<Request>;
  dragging: ReadonlySignal<boolean>;
  /** Written when something was painted, and nowhere else. */
  drawn: ReadonlySignal<Drawn | null>;
  playing: ReadonlySignal<Direction>;
  /** Playback waits for frames. */
  late: ReadonlySignal<boolean>;
  measured(): number;
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
  let since = 0; // when the last request was made
  let animation = 0;
  let stopped = false;
  let heading: -1 | 1 = 1;
  let last: number | null = null; // where playback ends
  const clock = makeClock(fps);
  const requested = signal<Request>({ step: 0 });
  const dragging = signal(false);
  const drawn = signal<Drawn | null>(null);
  const playing = signal<Direction>(0);
  const late = signal(false);

  const waiting = (): boolean => drawn.peek()?.request !== requested.peek();

  const spotsAt = (step: number): Spot[] =>
    sequence.heads.map((head, i) => ({ head, frame: sequence.frames[i]?.[step] as number }));

  const want = (): void => {
    const { step } = requested.peek();
    const spots: Spot[] = spotsAt(step);
    const reach = playing.peek() === 0 ? 12 : AHEAD;
    for (let i = 1; i <= reach; i++) {
      const ahead = step + i * heading;
      if (ahead >= 0 && ahead < sequence.length) spots.push(...spotsAt(ahead));
      const behind = step - i * heading;
      if (i <= BEHIND && behind >= 0 && behind < sequence.length) spots.push(...spotsAt(behind));
    }
    // At rest, the best frames of the next events are loaded too.
    frames.want(playing.peek() === 0 ? [...spots, ...likely()] : spots);
  };

  const paint = (step: number, request: Request | null, spots: Spot[], pictures: Picture[]): void => {
    draw(spots, pictures);
    const seen = spots.map((spot, i) => ({ ...spot, visible: pictures[i]?.bitmap != null }));
    drawn.value = { step, spots: seen, request };
  };

  const tick = (now: number): void => {
    animation = 0;
    if (stopped || sequence.length === 0) return;
    const direction = playing.peek();
    if (!waiting() && direction !== 0 && clock.due(now)) {
      const next = requested.peek().step + direction;
      if (next < 0 || next >= sequence.length || (last !== null && next > last)) playing.value = 0;
      else {
        requested.value = { step: next };
        since = now;
        want();
      }
    }
    if (waiting() && !dragging.peek()) {
      const request = requested.peek();
      const spots = spotsAt(request.step);
      const pictures = spots.map((spot) => frames.ready(spot));
      if (pictures.every((picture) => picture !== undefined)) {
        clock.drawn(now);
        late.value = false;
        paint(request.step, request, spots, pictures);
      } else if (now - since > LATE_AFTER) late.value = true;
    }
    if ((waiting() && !dragging.peek()) || playing.peek() !== 0) schedule();
  };

  const schedule = (): void => {
    if (animation === 0 && !stopped) animation = requestAnimationFrame(tick);
  };

  const request = (step: number, drags: boolean): void => {
    const next = Math.min(Math.max(step, 0), sequence.length - 1);
    const before = requested.peek().step;
    if (next !== before) heading = next < before ? -1 : 1;
    since = performance.now();
    batch(() => {
      requested.value = { step: next };
      dragging.value = drags;
    });
  };

  const go = (step: number): void => {
    if (sequence.length === 0) return;
    request(step, false);
    want();
    schedule();
  };

  frames.onready = schedule;
  frames.ondragged = (spots, pictures) => {
    const [first] = spots;
    if (!dragging.peek() || stopped || first === undefined) return;
    paint(stepOf(sequence, first.head, first.frame), null, spots, pictures);
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
      request(step, true);
      late.value = false;
      frames.drag(spotsAt(requested.peek().step));
    },
    by(steps) {
      if (!waiting()) go(requested.peek().step + steps);
    },
    play(direction, end) {
      last = direction === 1 ? (end ?? null) : null;
      if (direction !== 0) {
        heading = direction;
        clock.start(performance.now());
      }
      playing.value = direction;
      dragging.value = false;
      if (sequence.length > 0) want();
      schedule();
    },
    setRate: (rate) => clock.setRate(rate),
    requested,
    dragging,
    drawn,
    playing,
    late,
    measured: () => clock.measured(performance.now()),
    close() {
      stopped = true;
      cancelAnimationFrame(animation);
      frames.close();
    },
  };
}
