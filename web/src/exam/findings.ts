// Which finding the keys for size, type and segment speak of: the one that is on the screen.

import type { Entry, FindingContent, Reading, SieveEvent } from "../api/types.ts";
import { eventSubject, findingOfEvent, shows } from "../model/subjects.ts";
import type { Screen } from "./screen.ts";
import type { Session } from "./session.ts";

/** The finding that an accepted event shows. */
export function findingOf(reading: Reading, event: SieveEvent): Entry<FindingContent> | undefined {
  const named = reading.decisions[eventSubject(event)]?.content.finding ?? findingOfEvent(event);
  return (
    reading.findings.find(({ content }) => content.subject === named) ??
    reading.findings.find(({ content }) => !content.missed && shows(content, event.head, event.best_frame))
  );
}

/** Close the open finding when the drawn frame is none of its frames. Returns what ends it. */
export function leaveFindings(session: Session, screen: Screen): () => void {
  const look = (): void => {
    const subject = session.finding.value;
    if (subject === null) return;
    const finding = session.reading.value.findings.find(({ content }) => content.subject === subject);
    const { head, frame } = screen.here();
    if (finding !== undefined && shows(finding.content, head, frame)) return;
    const event = session.events[screen.event.value];
    session.finding.value = (event && findingOf(session.reading.value, event)?.content.subject) ?? null;
  };
  const stops = [screen.player.drawn.subscribe(look), screen.head.subscribe(look)];
  return () => stops.forEach((stop) => stop());
}
