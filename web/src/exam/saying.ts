// What a screen reader hears when one comes to rest on a frame.

import { announcePlace } from "../announce.ts";
import { eventSubject } from "../model/subjects.ts";
import { clock, VERDICTS } from "../model/words.ts";
import type { Screen } from "./screen.ts";
import { eventOf, type Session } from "./session.ts";

export function sayFrames(session: Session, screen: Screen): () => void {
  const say = (): void => {
    if (screen.player.shown.value === null || screen.player.playing.value !== 0) return;
    const { head, frame } = screen.here();
    const parts = [`Frame ${frame}`];
    if (session.exam.heads.length > 1) parts.push(`head ${head}`);
    if (session.hasTimes) parts.push(clock(session.positions.get(head)?.[frame] ?? NaN));
    const event = eventOf(session, head, frame);
    if (event) {
      const verdict = session.reading.value.decisions[eventSubject(event)]?.content.decision;
      parts.push(`event ${session.events.indexOf(event) + 1}`, verdict ? VERDICTS[verdict].words : "no verdict");
    }
    announcePlace(parts.join(", "));
  };
  const stops = [screen.player.shown.subscribe(say), screen.player.playing.subscribe(say)];
  return () => stops.forEach((stop) => stop());
}
