// The part of an exam that the timeline shows, and the way between positions and pixels.

import { firstFrom } from "./positions.ts";

export interface View {
  low: number;
  high: number;
}

export const span = (view: View): number => view.high - view.low;

export function toPixel(view: View, position: number, width: number): number {
  return ((position - view.low) / span(view)) * width;
}

export function toPosition(view: View, pixel: number, width: number): number {
  return view.low + (pixel / width) * span(view);
}

/** Zoom so that the position under the pointer stays there. A factor below 1 zooms in. */
export function zoom(view: View, around: number, factor: number, whole: View, least: number): View {
  const wanted = Math.min(Math.max(span(view) * factor, least), span(whole));
  const share = (around - view.low) / span(view);
  return within({ low: around - share * wanted, high: around + (1 - share) * wanted }, whole);
}

export function pan(view: View, by: number, whole: View): View {
  return within({ low: view.low + by, high: view.high + by }, whole);
}

/** Move the view, and only if it must, so that a position can be seen. */
export function follow(view: View, position: number, whole: View): View {
  if (position >= view.low && position <= view.high) return view;
  return within({ low: position - span(view) / 2, high: position + span(view) / 2 }, whole);
}

function within(view: View, whole: View): View {
  const size = Math.min(span(view), span(whole));
  const low = Math.min(Math.max(view.low, whole.low), whole.high - size);
  return { low, high: low + size };
}

/**
 * The frames behind each pixel: pixel i shows frames ranges[2 i] up to, not with, ranges[2 i + 1].
 * A pixel between two frames shows the earlier one, which was on the screen at that time.
 */
export function pixelRanges(positions: Float64Array, view: View, width: number): Int32Array {
  const ranges = new Int32Array(2 * width);
  const last = positions.length;
  for (let pixel = 0; pixel < width; pixel++) {
    const from = toPosition(view, pixel, width);
    const to = toPosition(view, pixel + 1, width);
    let first = firstFrom(positions, from);
    const end = firstFrom(positions, to);
    if (end <= first) first = Math.max(first - 1, 0);
    const beyond = to <= (positions[0] ?? 0) || from > (positions[last - 1] ?? 0) + span(view) / width;
    ranges[2 * pixel] = first;
    ranges[2 * pixel + 1] = beyond ? first : Math.min(Math.max(end, first + 1), last);
  }
  return ranges;
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400];

/** Round positions for the labels of an axis in seconds, or in frames. */
export function ticks(view: View, most: number, seconds: boolean): number[] {
  const wanted = span(view) / Math.max(most, 1);
  let step = STEPS.find((candidate) => candidate >= wanted);
  if (step === undefined || !seconds) {
    const power = 10 ** Math.floor(Math.log10(Math.max(wanted, 1)));
    step = [1, 2, 5, 10].map((m) => m * power).find((candidate) => candidate >= wanted) ?? power;
  }
  const found: number[] = [];
  for (let at = Math.ceil(view.low / step) * step; at <= view.high; at += step) found.push(at);
  return found;
}
