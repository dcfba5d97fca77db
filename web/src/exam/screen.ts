// What is shown: which heads, in which order, at which step. The one place that drives the player.

import { effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { announce } from "../announce.ts";
import { toast } from "../dialog.ts";
import { filtered, inStep, paired, single, stepOf, type Mode, type Sequence } from "../model/sequence.ts";
import { makeFrames, type Picture, type Spot } from "../play/frames.ts";
import { makePlayer, type DrawnSpot, type Player } from "../play/player.ts";
import { keep, settings } from "../settings.ts";
import type { Session } from "./session.ts";
import { makeTarget, type Target } from "./target.ts";

/** After the page moved by itself, so many milliseconds pass on the drawn frame before a decision counts. */
const LOOK_FIRST = 300;

export interface Screen {
  player: Player;
  /** Why frames do not come; null while they do. */
  trouble: ReadonlySignal<string | null>;
  mode: ReadonlySignal<Mode>;
  /** The head that keys and decisions refer to. */
  head: ReadonlySignal<number>;
  both: ReadonlySignal<boolean>;
  fps: ReadonlySignal<number>;
  /** The drawn frame of the active head. */
  here(): DrawnSpot;
  /** The place in the list of the event that this frame is in; -1: none. */
  event: ReadonlySignal<number>;
  /** The place of the event that another head shows; -1: none. */
  elsewhere: ReadonlySignal<number>;
  /** What was requested is on the screen. */
  settled: ReadonlySignal<boolean>;
  /** The event of the drawn frame; null if there is none, or if the frame has no picture. */
  target: ReadonlySignal<Target | null>;
  /** The page moved by itself, and the new frame has not been on the screen long enough to decide. */
  moved: ReadonlySignal<boolean>;
  /** Where the reader was before the page moved by itself. */
  before: Signal<Spot | null>;
  /** Jump; a frame that the mode leaves out is shown in the mode "all". */
  jump(head: number, frame: number, exact?: boolean): void;
  /** The same, not requested by the reader: decisions wait until the frame was looked at. */
  jumpByItself(head: number, frame: number): void;
  /** While the pointer drags: the key frame nearest before a frame. `jump` ends it. */
  drag(head: number, frame: number): void;
  setMode(mode: Mode): void;
  setHead(head: number): void;
  setBoth(both: boolean): void;
  setFps(fps: number): void;
  /** Go to the best frame of an event. */
  choose(event: number): void;
  /** Play an event from its first to its last frame. */
  playEvent(event: number): void;
  close(): void;
}

/** `draw` paints frames; `whole` ends the zoom, before the page shows another event. */
export function makeScreen(session: Session, draw: (spots: Spot[], pictures: Picture[]) => void, whole: () => void): Screen {
  const { columns, positions, exam, events, eventsByFrame } = session;
  const frames = makeFrames(exam.exam);
  const heads = exam.heads.map(({ head }) => head);
  const trouble = signal<string | null>(null);
  frames.ontrouble = (sentence) => (trouble.value = sentence);
  const fps = signal(settings().fps);
  const likely = (): Spot[] =>
    session.following(session.selected, 3).map(({ head, best_frame }) => ({ head, frame: best_frame }));
  const player = makePlayer(frames, draw, fps.value, likely);
  const mode = signal<Mode>("all");
  const active = signal(heads[0] ?? 0);
  const both = signal(heads.length === 2);
  const moved = signal(false);
  const before = signal<Spot | null>(null);
  const { settled, here: drawnHere, event, elsewhere, target } = makeTarget({ ...player, active, events, eventsByFrame });
  let together: Sequence | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const sequence = (): Sequence => {
    const [a, b] = heads;
    if (both.value && a !== undefined && b !== undefined) {
      together ??= paired([a, b], positions.get(a) as Float64Array, positions.get(b) as Float64Array);
      return filtered(together, mode.value, columns);
    }
    return filtered(single(active.value, columns.get(active.value)?.frames ?? 0), mode.value, columns);
  };

  const here = (): DrawnSpot => drawnHere.value ?? { head: active.value, frame: 0, visible: false };

  /** The requested frame of the active head. */
  const aim = (): number => {
    const { heads: shown, frames: list } = player.sequence();
    return list[shown.indexOf(active.value)]?.[player.requested.value.step] ?? here().frame;
  };

  const rebuild = (frame: number): void => {
    const next = sequence();
    player.setSequence(next, next.length > 0 ? stepOf(next, active.value, frame) : 0);
  };

  const setMode = (next: Mode): void => {
    const frame = aim();
    const old = mode.value;
    mode.value = next;
    if (sequence().length > 0) return rebuild(frame);
    mode.value = old;
    toast("There are no such frames in this exam.");
  };

  const setHead = (next: number): void => {
    if (!heads.includes(next) || next === active.value) return;
    const [old, frame] = [active.value, aim()];
    active.value = next;
    if (both.value) return announce(`Head ${next}, frame ${here().frame}`);
    const from = positions.get(old);
    const to = positions.get(next);
    rebuild(from && to ? inStep(from, frame, to) : 0);
  };

  const isFlagged = ({ head, frame }: Spot): boolean => columns.get(head)?.flagged[frame] === 1;

  const jump = (head: number, frame: number, exact = true): void => {
    active.value = head;
    const shown = player.sequence();
    const step = shown.heads.includes(head) ? stepOf(shown, head, frame) : -1;
    const found = step < 0 ? -1 : shown.frames[shown.heads.indexOf(head)]?.[step];
    if (step >= 0 && (found === frame || !exact)) return player.go(step);
    if (exact && found !== frame && mode.value !== "all" && !isFlagged({ head, frame })) {
      mode.value = "all";
      toast("Showing all frames: this one is not flagged.");
    }
    rebuild(frame);
  };

  const jumpByItself = (head: number, frame: number): void => {
    const { head: oldHead, frame: oldFrame } = here();
    before.value = { head: oldHead, frame: oldFrame };
    clearTimeout(timer);
    moved.value = true;
    player.play(0);
    whole();
    jump(head, frame);
  };

  // Modes other than "all" leave out most key frames, and have few frames.
  const drag = (head: number, frame: number): void => {
    if (mode.value !== "all" || head !== active.value) return jump(head, frame, false);
    player.drag(stepOf(player.sequence(), head, frame));
  };

  const stops = [
    // Flagged frames alone: the active head is the one that is flagged.
    player.drawn.subscribe((drawn) => {
      const flagged = drawn?.spots.find(isFlagged);
      if (mode.value !== "all" && flagged && !isFlagged(here())) active.value = flagged.head;
      if (event.value >= 0) session.selected = event.value;
    }),
    event.subscribe((place) => {
      if (place >= 0) session.selected = place;
    }),
    effect(() => {
      clearTimeout(timer);
      if (moved.value && settled.value) timer = setTimeout(() => (moved.value = false), LOOK_FIRST);
    }),
  ];

  rebuild(0);
  return {
    player,
    trouble,
    mode,
    head: active,
    both,
    fps,
    here,
    event,
    elsewhere,
    settled,
    target,
    moved,
    before,
    jump,
    jumpByItself,
    drag,
    setMode,
    setHead,
    setBoth(next) {
      if (heads.length < 2) return void toast("This exam has one head.");
      const frame = aim();
      both.value = next;
      rebuild(frame);
    },
    setFps(next) {
      const rate = Math.min(Math.max(Math.round(next), 1), 30);
      fps.value = rate;
      keep({ fps: rate });
      player.setRate(rate);
      announce(`${rate} frames per second`);
    },
    choose(place) {
      const chosen = events[place];
      if (chosen === undefined) return;
      player.play(0);
      session.selected = place;
      whole();
      jump(chosen.head, chosen.best_frame);
    },
    playEvent(place) {
      const chosen = events[place];
      if (chosen === undefined) return;
      jump(chosen.head, chosen.first_frame);
      player.play(1, stepOf(player.sequence(), chosen.head, chosen.last_frame));
    },
    close() {
      clearTimeout(timer);
      for (const stop of stops) stop();
      player.close();
    },
  };
}
