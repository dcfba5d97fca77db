// What each key of the exam page does.

import type { Landmark, Segment, Spot, Decision } from "../api/types.ts";
import { toast } from "../dialog.ts";
import { showHelp } from "../dialogs/help.tsx";
import { SEGMENT_WORDS, SEGMENTS, GRADE_WORDS } from "../model/clear.ts";
import type { Mode } from "../model/sequence.ts";
import { LANDMARKS, LOCATIONS, PARIS, SIZES } from "../model/words.ts";
import { brighter, harder, NEUTRAL, type Adjustment } from "./picture.ts";
import { openMenu } from "./menu.ts";
import type { Decisions } from "./decisions.ts";
import type { Keeper } from "./keeping.ts";
import type { Tabs } from "./panel/tabs.ts";
import type { Overlays } from "./panel/why.tsx";
import type { Screen } from "./screen.ts";
import { allDecided, toValidate, type Session } from "./session.ts";
import { openReopening, openSigning, signBarrier } from "../dialogs/signing.tsx";
import type { Timeline } from "./timeline/timeline.ts";
import type { Signal } from "@preact/signals";

export interface Desk {
  session: Session;
  screen: Screen;
  keeper: Keeper;
  decisions: Decisions;
  tabs: Tabs;
  timeline: Timeline;
  adjustment: Signal<Adjustment>;
  overlays: Signal<Overlays>;
  maps(): string[];
  zoomBy(factor: number): void;
  differences(): void;
}

const MODES: Mode[] = ["all", "flagged", "to read"];

/** By the ids of the keymap. */
export function makeCommands(desk: Desk): Record<string, () => void> {
  const { session, screen, decisions, tabs, timeline, adjustment, overlays } = desk;
  const { player } = screen;

  const move = (by: number) => (): void => {
    player.play(0);
    player.by(by);
  };
  const event = (by: number) => (): void => {
    if (session.events.length === 0) return toast("The detector flagged nothing in this exam.");
    const places = by > 0 ? session.places.value : session.places.value.toReversed();
    const next = places.slice(places.indexOf(session.selected) + 1).find((place) => session.list.value.includes(place));
    if (next === undefined) toast(`No further event ${by > 0 ? "after" : "before"} this one${session.filter.value === "all" ? "" : " passes the filter"}.`);
    else screen.choose(next);
  };
  const decision = (which: Decision) => (): void => decisions.onEvent(which);
  const frame = (which: Decision) => (): void => decisions.onFrame(which);
  const spotHere = (): Spot => {
    const { head, frame } = screen.here();
    return { head, frame };
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
      const [next] = session.following(session.selected, 1);
      if (next) screen.choose(session.events.indexOf(next));
      else toast(allDecided(session));
    },
    playEvent: () => {
      if (session.selected < 0) toast("Choose an event first.");
      else screen.playEvent(session.selected);
    },
    back: () => {
      const place = screen.before.value;
      if (place === null) return toast("The page has not moved by itself.");
      screen.before.value = null;
      screen.jump(place.head, place.frame);
    },

    accept: decision("accept"),
    reject: decision("reject"),
    unsure: decision("unsure"),
    acceptFrame: frame("accept"),
    rejectFrame: frame("reject"),
    unsureFrame: frame("unsure"),
    missed: () => decisions.missed(),
    size: withFinding((id) =>
      openMenu("Size", SIZES.map(([size, words], i) => ({ key: String(i + 1), words, run: () => decisions.change(id, { size, size_on: spotHere() }) }))),
    ),
    paris: withFinding((id) =>
      openMenu("Paris", [
        ...PARIS.map(([paris, words], i) => ({ key: String(i + 1), words: `${paris} ${words}`, run: () => decisions.change(id, { paris }) })),
        { key: "-", words: "not given", run: () => decisions.change(id, { paris: null }) },
      ]),
    ),
    segment: withFinding((id) =>
      openMenu("Segment", [
        ...LOCATIONS.map(([segment, words], i) => ({ key: String((i + 1) % 10), words, run: () => decisions.change(id, { segment }) })),
        { key: "-", words: "not given", run: () => decisions.change(id, { segment: null }) },
      ]),
    ),
    best: withFinding((id) => decisions.change(id, { best: spotHere() })),
    landmark: () =>
      openMenu("Landmark on this frame", LANDMARKS.map(([name, words], i) => ({ key: String(i + 1), words, run: () => decisions.landmark(name as Landmark) }))),
    clean: () =>
      openMenu("Cleanliness", SEGMENTS.map((segment: Segment, i) => ({
        key: String(i + 1),
        words: SEGMENT_WORDS[segment],
        run: () => openMenu(SEGMENT_WORDS[segment], GRADE_WORDS.map((words, grade) => ({ key: String(grade), words, run: () => decisions.grade(segment, grade) }))),
      }))),
    urgent: () => decisions.urgent(),
    undo: () => void decisions.undo(),
    redo: () => void decisions.redo(),
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

    enhance: adjust((now) => ({ ...now, saturated: !now.saturated })),
    natural: adjust(() => NEUTRAL),
    brighter: adjust((now) => brighter(now, 0.1)),
    darker: adjust((now) => brighter(now, -0.1)),
    harder: adjust((now) => harder(now, 0.1)),
    softer: adjust((now) => harder(now, -0.1)),
    zoomIn: () => desk.zoomBy(1.4),
    zoomOut: () => desk.zoomBy(0),
    shapes: () => {
      const { place, shapes, map } = overlays.value;
      overlays.value = { map, shapes: place && !shapes, place: !place || !shapes };
    },
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
    timelineIn: () => timeline.zoomBy(0.5),
    timelineOut: () => timeline.zoomBy(2),
    help: showHelp,
    close: () => void (session.finding.value = null),
  };
}
