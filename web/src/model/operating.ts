// What there would be to read at another threshold, from the scores alone.

import type { Columns } from "../api/columns.ts";

/** Flagged frames further apart than both belong to different events. As in capsieve's events. */
export const LONGEST_GAP_S = 1.0;
export const LONGEST_GAP_FRAMES = 3;

export interface Work {
  frames: number;
  events: number;
}

/** Reasons that stop a frame before it is scored: no threshold on the score brings it back. */
const BEFORE_SCORE = new Set(["texture-low", "texture-high", "uninformative", "no-feature"]);

/** For each frame the threshold up to which it is flagged; -Infinity where it never is. */
export function reach(columns: Columns): Float32Array {
  const never = columns.reasons.map((reason) => BEFORE_SCORE.has(reason));
  return Float32Array.from(columns.score, (score, i) =>
    Number.isNaN(score) || never[columns.reason[i] as number] ? -Infinity : score,
  );
}

/** Frames at or above the threshold, and their groups: at most the gap apart, of one head. */
export function workAt(scores: Float32Array, times: Float64Array, threshold: number): Work {
  let frames = 0;
  let events = 0;
  let last = -1;
  for (let i = 0; i < scores.length; i++) {
    if ((scores[i] as number) < threshold) continue;
    frames++;
    if (last < 0 || !close(i - last, (times[i] as number) - (times[last] as number))) events++;
    last = i;
  }
  return { frames, events };
}

function close(apart: number, seconds: number): boolean {
  return apart <= LONGEST_GAP_FRAMES || Math.abs(seconds) <= LONGEST_GAP_S;
}

/** How many frames there are at or above each threshold of an ascending list. */
export function framesAbove(scores: readonly Float32Array[], thresholds: Float64Array): number[] {
  const all = scores.map((list) => list.slice().sort());
  return Array.from(thresholds, (threshold) =>
    all.reduce((sum, list) => sum + list.length - lowerBound(list, threshold), 0),
  );
}

function lowerBound(sorted: Float32Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
