// How events, frames and findings are named. Events go by their frames: numbers change when an
// exam is screened again.

import type { SieveEvent } from "../api/types.ts";

export const eventSubject = (event: SieveEvent): string =>
  `event:${event.head}:${event.first_frame}-${event.last_frame}`;

export const frameSubject = (head: number, frame: number): string => `frame:${head}:${frame}`;

/** The id of the finding that an accepted event shows: two windows that accept it make one finding. */
export const findingIdOf = (event: SieveEvent): string =>
  `e${event.head}-${event.first_frame}-${event.last_frame}`;

export const findingSubject = (id: string): string => `finding:${id}`;

export interface Place {
  head: number;
  frame: number;
}

/** Where a subject begins in the exam; null for what stands for no frame. */
export function placeOf(subject: string): Place | null {
  const match = /^(?:event|frame):(\d+):(\d+)/.exec(subject);
  return match ? { head: Number(match[1]), frame: Number(match[2]) } : null;
}
