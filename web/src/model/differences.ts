// Where two blind readers differ, and what the consensus decided about it.

import type { Difference, FindingContent, Reading, SieveEvent } from "../api/types.ts";
import { decisionOn } from "./events.ts";
import { eventSubject, findingOfEvent } from "./subjects.ts";

export const isFinding = ({ subject }: Difference): boolean => subject.startsWith("finding:");

/**
 * The differences that a consensus decides, in the order of the exam, with the events that neither
 * reader decided. A finding that an accepted event brought along is the difference of its event; a
 * missed polyp is one of its own, also inside an event on which they differ.
 */
export function toDecide(
  differences: readonly Difference[],
  readings: readonly Reading[],
  events: readonly SieveEvent[],
  positions: ReadonlyMap<number, ArrayLike<number>>,
): Difference[] {
  const open = events
    .filter((event) => readings.length > 0 && readings.every((reading) => decisionOn(reading, event) === null))
    .map(({ head, first_frame, last_frame, ...event }) => ({
      ...{ subject: eventSubject({ head, first_frame, last_frame, ...event }), a: "undecided", b: "undecided" },
      ...{ head, first: first_frame, last: last_frame },
    }));
  const all = [...differences, ...open];
  const subjects = new Set(all.map(({ subject }) => subject));
  const ofEvents = new Set(
    events.filter((event) => subjects.has(eventSubject(event))).flatMap((event) => [findingOfEvent(event), ...acceptedAs(event, readings)]),
  );
  const at = ({ head, first }: Difference): number => positions.get(head)?.[first] ?? first;
  return all.filter(({ subject }) => !ofEvents.has(subject)).toSorted((one, other) => at(one) - at(other));
}

/** The findings that the readers named when they accepted an event. */
function acceptedAs(event: SieveEvent, readings: readonly Reading[]): string[] {
  return readings.flatMap((reading) => reading.decisions[eventSubject(event)]?.content.finding ?? []);
}

/** What the consensus decided about a difference; null while it is open. */
export function decidedOn({ decisions, findings }: Reading, one: Difference): string | null {
  const decision = decisions[one.subject]?.content.decision;
  if (decision) return decision;
  const meets = ({ spans }: FindingContent): boolean =>
    spans.some(({ head, first, last }) => head === one.head && first <= one.last && one.first <= last);
  return isFinding(one) && findings.some(({ content }) => meets(content)) ? "finding" : null;
}
