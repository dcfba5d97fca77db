// The events of an exam: which frames belong to them, and the way through them.

import type { Columns } from "../api/columns.ts";
import type { Entry, FindingContent, Reading, SieveEvent } from "../api/types.ts";
import { eventSubject, findingOfEvent, shows } from "./subjects.ts";

/**
 * For each frame of a head the place of its event in the list; -1: no event.
 *
 * A frame between the first and the last frame of an event belongs to it, unless another event has
 * it. If events lie in each other, such a frame belongs to the shortest one.
 */
export function eventsByFrame(head: number, table: Columns, events: readonly SieveEvent[]): Int32Array {
  const places = new Map(events.map(({ event }, place) => [event, place]));
  const found = Int32Array.from(table.event, (event) => places.get(event) ?? -1);
  const spans = events.flatMap((event, place) => (event.head === head ? [{ ...event, place }] : []));
  spans.sort((a, b) => a.last_frame - a.first_frame - (b.last_frame - b.first_frame));
  for (const { first_frame, last_frame, place } of spans) {
    for (let frame = first_frame; frame <= last_frame; frame++) if (found[frame] === -1) found[frame] = place;
  }
  return found;
}

export const decisionOn = (reading: Reading, event: SieveEvent) =>
  reading.decisions[eventSubject(event)]?.content.decision ?? null;

/** Whether readings differ about an event, or one of them has no decision. */
export function differ(readings: readonly Reading[], event: SieveEvent): boolean {
  const decisions = readings.map((reading) => decisionOn(reading, event));
  return decisions.some((decision) => decision === null || decision !== decisions[0]);
}

export const undecided = (events: readonly SieveEvent[], reading: Reading): SieveEvent[] =>
  events.filter((event) => decisionOn(reading, event) === null);

/** The list from after one of its elements on, and round its end; that element is the last. */
export function inTurn<T>(list: readonly T[], after: T): T[] {
  const next = list.indexOf(after) + 1;
  return [...list.slice(next), ...list.slice(0, next)];
}

/** The finding that an accepted event shows. */
export function findingOf(reading: Reading, event: SieveEvent): Entry<FindingContent> | undefined {
  const named = reading.decisions[eventSubject(event)]?.content.finding ?? findingOfEvent(event);
  return (
    reading.findings.find(({ content }) => content.subject === named) ??
    reading.findings.find(({ content }) => !content.missed && shows(content, event.head, event.best_frame))
  );
}
