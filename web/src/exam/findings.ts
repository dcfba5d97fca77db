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

const NEAR = 50; // frames: a polyp is looked at from all sides, its size judged a little later

/** Let go of the chosen finding when the screen has left it. Returns what ends it. */
export function leaveFindings(session: Session, screen: Screen): () => void {
  let beside = session.event.get(); // the event that was chosen while the finding was looked at

  const look = (): void => {
    const finding = session.reading.get().findings.find((one) => one.id === session.finding.get());
    if (finding === undefined) return;
    const place = session.event.get();
    const frame = screen.player.shown.get()?.spots.find((spot) => spot.head === finding.head)?.frame;
    if (frame !== undefined && finding.frames.includes(frame)) {
      beside = place;
      return;
    }
    const event = session.events[place];
    const first = Math.min(...finding.frames) - NEAR;
    const last = Math.max(...finding.frames) + NEAR;
    // Another event: its own finding, if it has one, and never the one before.
    if (event !== undefined && place !== beside) session.finding.set(findingOf(session.reading.get(), event)?.id ?? null);
    else if (frame === undefined || frame < first || frame > last) session.finding.set(null);
  };
  const stops = [
    session.finding.watch(() => void (beside = session.event.get())),
    screen.player.shown.watch(look),
  ];
  return () => stops.forEach((stop) => stop());
}
