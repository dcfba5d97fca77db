// The order in which frames are shown: every step shows one frame of each head.
//
// Two heads are kept in step by time. Each frame of each head has at least one step of its own, so
// that going through the steps one by one leaves no frame unseen.

import type { Columns } from "../api/columns.ts";
import { firstFrom } from "./positions.ts";

export type Mode = "all" | "flagged" | "to read";

export interface Sequence {
  length: number;
  heads: number[];
  /** frames[i][step]: which frame of heads[i] is shown. */
  frames: Int32Array[];
}

/** All frames of one head. */
export function single(head: number, frames: number): Sequence {
  return { length: frames, heads: [head], frames: [Int32Array.from({ length: frames }, (_, i) => i)] };
}

/** Two heads in the order of time: frames less than half a step apart are shown together. */
export function paired(heads: [number, number], a: Float64Array, b: Float64Array): Sequence {
  const together = 0.5 * Math.min(typicalGap(a), typicalGap(b));
  const left: number[] = [];
  const right: number[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const next = (a[i] ?? Infinity) - (b[j] ?? Infinity);
    const both = i < a.length && j < b.length && Math.abs(next) <= together;
    const takeLeft = both || j >= b.length || next < 0;
    const takeRight = both || i >= a.length || next >= 0;
    left.push(takeLeft ? i : Math.max(i - 1, 0));
    right.push(takeRight ? j : Math.max(j - 1, 0));
    if (takeLeft && i < a.length) i++;
    if (takeRight && j < b.length) j++;
  }
  return { length: left.length, heads, frames: [Int32Array.from(left), Int32Array.from(right)] };
}

/** Whether a flagged frame is a near-duplicate of another flagged frame of its event. */
function isNearDuplicate(table: Columns, frame: number): boolean {
  const earlier = table.duplicate_of[frame] as number;
  return earlier >= 0 && table.flagged[earlier] === 1 && table.event[earlier] === table.event[frame];
}

/** The steps at which some head shows a frame that the mode asks for. */
export function filtered(all: Sequence, mode: Mode, columns: ReadonlyMap<number, Columns>): Sequence {
  if (mode === "all") return all;
  const steps: number[] = [];
  for (let step = 0; step < all.length; step++) {
    const wanted = all.heads.some((head, i) => {
      const table = columns.get(head);
      const frame = all.frames[i]?.[step] as number;
      if (table === undefined || table.flagged[frame] !== 1) return false;
      return mode === "flagged" || !isNearDuplicate(table, frame);
    });
    if (wanted) steps.push(step);
  }
  return {
    length: steps.length,
    heads: all.heads,
    frames: all.frames.map((list) => Int32Array.from(steps, (step) => list[step] as number)),
  };
}

/** The step that shows a frame of a head, or the first one after it; the last where none is. */
export function stepOf(sequence: Sequence, head: number, frame: number): number {
  const list = sequence.frames[sequence.heads.indexOf(head)];
  if (list === undefined) throw new Error(`Head ${head} is not shown.`);
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] as number) < frame) low = middle + 1;
    else high = middle;
  }
  return Math.max(Math.min(low, list.length - 1), 0);
}

/** The frame of one head at the time of another head's frame. */
export function inStep(from: Float64Array, frame: number, to: Float64Array): number {
  const time = (from[frame] as number) + 0.5 * typicalGap(to);
  return Math.min(Math.max(firstFrom(to, time) - 1, 0), to.length - 1);
}

function typicalGap(times: Float64Array): number {
  if (times.length < 2) return 1;
  return ((times[times.length - 1] as number) - (times[0] as number)) / (times.length - 1);
}
