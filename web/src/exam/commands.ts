// What each key of the exam page does.

import type { Landmark, Segment, Verdict } from "../api/types.ts";
import { toast } from "../dialog.ts";
import { showHelp } from "../dialogs/help.tsx";
import { SEGMENT_WORDS, SEGMENTS, GRADE_WORDS } from "../model/clear.ts";
import { nextUndecided } from "../model/rank.ts";
import type { Mode } from "../model/sequence.ts";
import { LANDMARKS, LOCATIONS, PARIS, SIZES } from "../model/words.ts";
import { brighter, harder, NEUTRAL, nextEnhancement, type Adjustment } from "./adjust.ts";
import { openChord } from "./chords.ts";
import type { Deciding } from "./deciding.ts";
import type { Keeper } from "./keeping.ts";
import type { Tabs } from "./panel/tabs.ts";
import type { Overlays } from "./panel/why.ts";
import type { Screen } from "./screen.ts";
import { allDecided, ownEvents, toValidate, type Session } from "./session.ts";
import { openReopening, openSigning, signBarrier } from "../dialogs/signing.tsx";
import type { Timeline } from "./timeline/timeline.ts";
import type { Signal } from "@preact/signals";

export interface Desk {
  session: Session;
  screen: Screen;
  keeper: Keeper;
  deciding: Deciding;
  tabs: Tabs;
  timeline: Timeline;
  adjustment: Signal<Adjustment>;
  overlays: Signal<Overlays>;
  maps(): string[];
  zoomBy(factor: number): void;
  differences(): void;
  leave(): void;
}

const MODES: Mode[] = ["all", "flagged", "to read"];

/** By the ids of the keymap. `repeat`: the key is held down. */
export function makeCommands(desk: Desk): Record<string, (repeat: boolean) => void> {
  const { session, screen, deciding, tabs, timeline, adjustment, overlays } = desk;
  const { player } = screen;

  const move = (by: number) => (): void => {
    player.play(0);
    player.by(by);
  };
  const event = (by: number) => (): void => {
    const count = session.events.length;
    if (count === 0) return toast("The detector flagged nothing in this exam.");
    screen.choose(Math.min(Math.max(session.selected + by, 0), count - 1));
  };
  const verdict = (which: Verdict) => (repeat: boolean): void => {
    if (!repeat) deciding.onEvent(which);
  };
  const frame = (which: Verdict) => (repeat: boolean): void => {
    if (!repeat) deciding.onFrame(which);
  };
  const withFinding = (run: (id: string) => void) => (): void => {
    const id = session.finding.value;
    if (id === null) return toast("Choose a finding first: accept an event (A) or mark a polyp (M).");
    run(id);
  };
  const adjust = (change: (now: Adjustment) => Adjustment) => (): void => void (adjustment.value = change(adjustment.value));
  const head = (): void => {
    const heads = session.exam.heads.map((one) => one.head);
    const next = heads[(heads.indexOf(screen.head.value) + 1) % heads.length];
    if (next !== undefined) screen.setHead(next);
  };

  return {
    toggle: () => player.play(player.playing.value === 0 ? 1 : 0),
    backwards: () => player.play(-1),
    forwards: () => {
      if (player.playing.value === 1) screen.setFps(screen.fps.value + 5);
      else player.play(1);
    },
    next: move(1),
    previous: move(-1),
    next10: move(10),
    previous10: move(-10),
    first: () => player.go(0),
    last: () => player.go(player.sequence().length - 1),
    faster: () => screen.setFps(screen.fps.value + (screen.fps.value < 10 ? 1 : 5)),
    slower: () => screen.setFps(screen.fps.value - (screen.fps.value <= 10 ? 1 : 5)),
    mode: () => screen.setMode(MODES[(MODES.indexOf(screen.mode.value) + 1) % MODES.length] as Mode),

    nextEvent: event(1),
    previousEvent: event(-1),
    nextOpen: () => {
      const waiting = toValidate(session);
      const here = screen.here();
      const other = waiting.find(({ head, frame }) => head !== here.head || frame !== here.frame) ?? waiting[0];
      if (other) return screen.jump(other.head, other.frame);
      const next = nextUndecided(session.events, session.reading.value, session.selected, ownEvents(session));
      if (next < 0) toast(allDecided(session));
      else screen.choose(next);
    },
    playEvent: () => {
      const chosen = session.events[session.selected];
      if (!chosen) return toast("Choose an event first.");
      screen.jump(chosen.head, chosen.first_frame);
      player.play(1);
    },

    accept: verdict("accept"),
    reject: verdict("reject"),
    unsure: verdict("unsure"),
    acceptFrame: frame("accept"),
    rejectFrame: frame("reject"),
    unsureFrame: frame("unsure"),
    missed: (repeat) => {
      if (!repeat) deciding.missed();
    },
    size: withFinding((id) =>
      openChord("Size", SIZES.map(([size, words], i) => ({ key: String(i + 1), words, run: () => deciding.change(id, { size, size_on: screen.here() }) }))),
    ),
    paris: withFinding((id) =>
      openChord("Paris", PARIS.map(([paris, words], i) => ({ key: String(i + 1), words: `${paris} ${words}`, run: () => deciding.change(id, { paris }) }))),
    ),
    segment: withFinding((id) =>
      openChord("Segment", LOCATIONS.map(([segment, words], i) => ({ key: String((i + 1) % 10), words, run: () => deciding.change(id, { segment }) }))),
    ),
    best: withFinding((id) => deciding.change(id, { best: screen.here() })),
    landmark: () =>
      openChord("Landmark on this frame", LANDMARKS.map(([name, words], i) => ({ key: String(i + 1), words, run: () => deciding.landmark(name as Landmark) }))),
    clean: () =>
      openChord("Cleanliness", SEGMENTS.map((segment: Segment, i) => ({
        key: String(i + 1),
        words: SEGMENT_WORDS[segment],
        run: () => openChord(SEGMENT_WORDS[segment], GRADE_WORDS.map((words, grade) => ({ key: String(grade), words, run: () => deciding.grade(segment, grade) }))),
      }))),
    urgent: (repeat) => {
      if (!repeat) deciding.urgent();
    },
    undo: () => void deciding.undo(),
    redo: () => void deciding.redo(),
    differences: () => {
      if (session.room.workflow === "blind") desk.differences();
      else toast("Nobody reads blind in this room.");
    },
    sign: () => {
      const barrier = signBarrier(session);
      if (barrier !== null) return toast(barrier);
      if (session.reading.value.state === "signed") openReopening(session);
      else void openSigning(desk);
    },

    enhance: adjust((now) => ({ ...now, enhancement: nextEnhancement(now.enhancement) })),
    natural: adjust(() => NEUTRAL),
    brighter: adjust((now) => brighter(now, 0.1)),
    darker: adjust((now) => brighter(now, -0.1)),
    harder: adjust((now) => harder(now, 0.1)),
    softer: adjust((now) => harder(now, -0.1)),
    zoomIn: () => desk.zoomBy(1.4),
    zoomOut: () => desk.zoomBy(0),
    shapes: () => (overlays.value = { ...overlays.value, shapes: !overlays.value.shapes }),
    map: () => {
      const maps = [null, ...desk.maps()];
      const next = maps[(maps.indexOf(overlays.value.map) + 1) % maps.length] ?? null;
      overlays.value = { ...overlays.value, map: next };
    },
    head,
    both: () => screen.setBoth(!screen.both.value),

    tabWhy: () => tabs.open("Why"),
    tabFindings: () => tabs.open("Findings"),
    tabExam: () => tabs.open("Exam"),
    tabThreshold: () => tabs.open("Threshold"),
    timelineIn: () => timeline.zoomBy(0.5),
    timelineOut: () => timeline.zoomBy(2),
    help: showHelp,
    leave: () => {
      if (session.finding.value !== null) session.finding.value = null;
      else desk.leave();
    },
  };
}
