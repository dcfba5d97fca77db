// Which finding the keys for size, type and segment speak of: the one that is on the screen.

import type { Finding, Reading, SieveEvent } from "../api/types.ts";
import { eventSubject } from "../model/subjects.ts";
import type { Screen } from "./screen.ts";
import type { Session } from "./session.ts";

/** The finding that an accepted event shows. */
export function findingOf(reading: Reading, event: SieveEvent): Finding | undefined {
  const named = reading.verdicts[eventSubject(event)]?.finding;
  return reading.findings.find(
    (finding) =>
      finding.id === named ||
      (!finding.missed_by_sieve &&
        finding.head === event.head &&
        finding.best_frame >= event.first_frame &&
        finding.best_frame <= event.last_frame &&
        finding.frames.some((frame) => frame === event.best_frame)),
  );
}

/** Close the open finding when the drawn frame is none of its frames. Returns what ends it. */
export function leaveFindings(session: Session, screen: Screen): () => void {
  const look = (): void => {
    const id = session.finding.get();
    if (id === null) return;
    const finding = session.reading.get().findings.find((one) => one.id === id);
    const { head, frame } = screen.here();
    if (finding?.head === head && finding.frames.includes(frame)) return;
    const event = session.events[screen.event.get()];
    session.finding.set((event && findingOf(session.reading.get(), event)?.id) ?? null);
  };
  const stops = [screen.player.shown.watch(look), screen.head.watch(look)];
  return () => stops.forEach((stop) => stop());
}
