// How events, frames and findings are named. Events go by head and best frame: a longer reading list
// keeps these names.

import type { FindingContent, SieveEvent, Span } from "../api/types.ts";

export const eventSubject = (event: SieveEvent): string => `event:${event.head}:${event.best_frame}`;

export const frameSubject = (head: number, frame: number): string => `frame:${head}:${frame}`;

/** The finding that an accepted event shows: two windows that accept it make one finding. */
export const findingOfEvent = (event: SieveEvent): string => `finding:e${event.head}-${event.best_frame}`;

export interface Place {
  head: number;
  frame: number;
}

/** Where a subject is in the exam; null if it has no frame. */
export function placeOf(subject: string): Place | null {
  const match = /^(?:event|frame):(\d+):(\d+)/.exec(subject);
  return match ? { head: Number(match[1]), frame: Number(match[2]) } : null;
}

/** Frames of a head as spans of consecutive frames. */
export function spansOf(head: number, frames: Iterable<number>): Span[] {
  const spans: Span[] = [];
  for (const frame of [...new Set(frames)].sort((a, b) => a - b)) {
    const last = spans.at(-1);
    if (last && frame === last.last + 1) last.last = frame;
    else spans.push({ head, first: frame, last: frame });
  }
  return spans;
}

/** Whether a finding is seen on a frame. */
export const shows = ({ spans }: FindingContent, head: number, frame: number): boolean =>
  spans.some((span) => span.head === head && span.first <= frame && frame <= span.last);

/** Spans with one more frame, in order. */
export function withFrame(spans: readonly Span[], head: number, frame: number): Span[] {
  const frames = new Map<number, number[]>([[head, [frame]]]);
  for (const span of spans) {
    const of = frames.get(span.head) ?? [];
    for (let at = span.first; at <= span.last; at++) of.push(at);
    frames.set(span.head, of);
  }
  return [...frames].sort(([a], [b]) => a - b).flatMap(([of, list]) => spansOf(of, list));
}

export const framesIn = ({ spans }: FindingContent): number =>
  spans.reduce((sum, span) => sum + span.last + 1 - span.first, 0);
