// What is shown: which heads, in which order, at which step. The one place that drives the player.

import type { SieveEvent } from "../api/types.ts";
import { toast } from "../dialog.ts";
import { signal, type Signal } from "@preact/signals";
import { filtered, inStep, paired, single, stepOf, type Mode, type Sequence } from "../model/sequence.ts";
import { makeFrames, type Frames, type Picture, type Spot } from "../play/frames.ts";
import { makePlayer, type Player } from "../play/player.ts";
import { keep, settings } from "../settings.ts";
import { announce } from "../announce.ts";
import { eventOf, type Session } from "./session.ts";

declare const drawn: unique symbol;

/** What A, R and U decide. Only `Screen.target` makes one: no other event can be decided. */
export interface Target {
  readonly [drawn]: true;
  readonly event: SieveEvent;
  /** The drawn frame, which is one of the event's. */
  readonly frame: number;
}

export interface Screen {
  player: Player;
  frames: Frames;
  mode: Signal<Mode>;
  /** The head that keys and decisions speak of. */
  head: Signal<number>;
  both: Signal<boolean>;
  fps: Signal<number>;
  /** The frame of the chosen head that is drawn. */
  here(): Spot;
  /** The place in the ranking of the event that this frame is in; -1: none. */
  event: Signal<number>;
  /** The same event, to decide it; null if there is none, or while a requested frame is not drawn yet. */
  target(): Target | null;
  /** Jump; a frame that the mode leaves out is shown in the mode "all". */
  jump(head: number, frame: number, exact?: boolean): void;
  /** While the pointer drags: the key frame nearest before a frame. `jump` ends it. */
  drag(head: number, frame: number): void;
  setMode(mode: Mode): void;
  setHead(head: number): void;
  setBoth(both: boolean): void;
  setFps(fps: number): void;
  /** Go to the best frame of an event. */
  choose(event: number): void;
  /** The place in the ranking of an event that another head shows now; -1: none. */
  elsewhere(): number;
}

export function makeScreen(
  session: Session,
  draw: (spots: Spot[], pictures: Picture[]) => void,
): Screen {
  const { columns, positions, exam } = session;
  const frames = makeFrames(exam.exam);
  const heads = exam.heads.map(({ head }) => head);
  const fps = signal(settings().fps);
  const likely = (): Spot[] => {
    const next = session.events.slice(session.selected + 1, session.selected + 4);
    return next.map((event) => ({ head: event.head, frame: event.best_frame }));
  };
  const player = makePlayer(frames, draw, fps.value, likely);
  const mode = signal<Mode>("all");
  const head = signal(heads[0] ?? 0);
  const both = signal(heads.length === 2);
  const event = signal(-1);
  let together: Sequence | null = null;

  const sequence = (): Sequence => {
    const [a, b] = heads;
    if (both.value && a !== undefined && b !== undefined) {
      together ??= paired([a, b], positions.get(a) as Float64Array, positions.get(b) as Float64Array);
      return filtered(together, mode.value, columns);
    }
    return filtered(single(head.value, columns.get(head.value)?.frames ?? 0), mode.value, columns);
  };

  const here = (): Spot => {
    const spots = player.shown.value?.spots ?? [];
    return spots.find((spot) => spot.head === head.value) ?? spots[0] ?? { head: head.value, frame: 0 };
  };

  const rebuild = (frame: number): void => {
    const next = sequence();
    player.setSequence(next, next.length > 0 ? stepOf(next, head.value, frame) : 0);
  };

  const setMode = (next: Mode): void => {
    const { frame } = here();
    const before = mode.value;
    mode.value = next;
    if (sequence().length === 0) {
      mode.value = before;
      toast("There are no such frames in this exam.");
      return;
    }
    rebuild(frame);
  };

  const placeOn = ({ head: at, frame }: Spot): number => {
    const found = eventOf(session, at, frame);
    return found === null ? -1 : session.events.indexOf(found);
  };

  const lookUp = (): void => {
    if (player.shown.value !== null) event.value = placeOn(here());
  };
  head.subscribe(lookUp);

  const select = (): void => {
    if (event.value >= 0) session.selected = event.value;
  };

  const setHead = (next: number): void => {
    if (!heads.includes(next) || next === head.value) return;
    const spot = here();
    head.value = next;
    if (both.value) {
      select();
      return announce(`Head ${next}, frame ${here().frame}`);
    }
    const from = positions.get(spot.head);
    const to = positions.get(next);
    rebuild(from && to ? inStep(from, spot.frame, to) : 0);
  };

  const jump = (to: number, frame: number, exact = true): void => {
    head.value = to;
    const playing = player.sequence();
    const shown = playing.heads.includes(to) ? stepOf(playing, to, frame) : -1;
    const at = shown < 0 ? -1 : playing.frames[playing.heads.indexOf(to)]?.[shown];
    if (shown >= 0 && (at === frame || !exact)) return player.go(shown);
    if (exact && at !== frame && mode.value !== "all" && columns.get(to)?.flagged[frame] !== 1) {
      mode.value = "all";
      toast("Showing all frames: this one is not flagged.");
    }
    rebuild(frame);
  };

  // Modes other than "all" leave out most key frames, and have few frames.
  const drag = (to: number, frame: number): void => {
    if (mode.value !== "all" || to !== head.value) return jump(to, frame, false);
    player.drag(stepOf(player.sequence(), to, frame));
  };

  player.shown.subscribe((shown) => {
    if (shown === null) return;
    // Who goes through flagged frames alone is led to the head that was flagged.
    const flagged = shown.spots.find((spot) => columns.get(spot.head)?.flagged[spot.frame] === 1);
    const mine = here();
    if (mode.value !== "all" && flagged && columns.get(mine.head)?.flagged[mine.frame] !== 1) head.value = flagged.head;
    lookUp();
    select();
  });

  rebuild(0);
  return {
    player,
    frames,
    mode,
    head,
    both,
    fps,
    here,
    event,
    target() {
      const found = player.waiting() ? undefined : session.events[event.value];
      return found === undefined ? null : ({ event: found, frame: here().frame } as Target);
    },
    jump,
    drag,
    setMode,
    setHead,
    setBoth(next) {
      if (heads.length < 2) return void toast("This exam has one head.");
      const { frame } = here();
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
      const chosen = session.events[place];
      if (chosen === undefined) return;
      player.play(0);
      session.selected = place;
      jump(chosen.head, chosen.best_frame);
    },
    elsewhere() {
      const spots = player.shown.value?.spots ?? [];
      const other = spots.filter((spot) => spot.head !== head.value).map(placeOn);
      return other.find((place) => place >= 0) ?? -1;
    },
  };
}
