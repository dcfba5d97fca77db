// When the next frame is due. A late frame moves all later ones: nothing is ever skipped.

export interface Clock {
  setRate(fps: number): void;
  /** Start again: the next frame is due one interval from now. */
  start(now: number): void;
  due(now: number): boolean;
  /** A frame was drawn. */
  drawn(now: number): void;
  /** Frames per second over the last second or so; 0 before two frames were drawn. */
  measured(now: number): number;
}

export const SLOWEST = 1;
export const FASTEST = 30;

export function makeClock(fps: number): Clock {
  let interval = 1000 / fps;
  let next = 0;
  let recent: number[] = [];
  return {
    setRate(rate) {
      const before = interval;
      interval = 1000 / Math.min(Math.max(rate, SLOWEST), FASTEST);
      next += interval - before;
    },
    start(now) {
      next = now + interval;
      recent = [];
    },
    // Screens refresh in steps of some 16 ms: 2 ms early is better than a whole step late.
    due: (now) => now >= next - 2,
    drawn(now) {
      // On time: keep the rhythm. Late by more than one interval: the rhythm begins here.
      next = now - next > interval ? now + interval : next + interval;
      recent.push(now);
      if (recent.length > 31) recent.shift();
    },
    measured(now) {
      recent = recent.filter((time) => now - time < 2000);
      const first = recent[0];
      const last = recent.at(-1);
      if (first === undefined || last === undefined || last === first) return 0;
      return (1000 * (recent.length - 1)) / (last - first);
    },
  };
}
