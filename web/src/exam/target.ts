// Which event a decision is about: the one of the frame that is drawn, with a picture, and no other.

import { computed, type ReadonlySignal } from "@preact/signals";
import type { SieveEvent } from "../api/types.ts";
import type { Drawn, DrawnSpot, Request } from "../play/player.ts";

declare const displayed: unique symbol;

/** What A, R and U decide. Only `makeTarget` makes one. */
export interface Target {
  readonly [displayed]: true;
  readonly event: SieveEvent;
  /** The drawn frame, which belongs to the event. */
  readonly frame: number;
}

interface State {
  requested: ReadonlySignal<Request>;
  dragging: ReadonlySignal<boolean>;
  drawn: ReadonlySignal<Drawn | null>;
  /** The head that keys and decisions refer to. */
  active: ReadonlySignal<number>;
  events: readonly SieveEvent[];
  /** The place of the event of each frame, for each head. */
  eventsByFrame: ReadonlyMap<number, Int32Array>;
}

export function makeTarget({ requested, dragging, drawn, active, events, eventsByFrame }: State) {
  /** What was requested is on the screen. */
  const settled = computed(() => drawn.value !== null && !dragging.value && drawn.value.request === requested.value);
  /** The drawn frame of the active head. */
  const here = computed<DrawnSpot | null>(() => drawn.value?.spots.find(({ head }) => head === active.value) ?? null);
  const placeOn = (spot: DrawnSpot | null): number => (spot && eventsByFrame.get(spot.head)?.[spot.frame]) ?? -1;
  /** The place in the list of the event that this frame is in; -1: none. */
  const event = computed(() => placeOn(here.value));
  /** The place of the event that another head shows; -1: none. */
  const elsewhere = computed(() => {
    const others = drawn.value?.spots.filter(({ head }) => head !== active.value) ?? [];
    return others.map(placeOn).find((place) => place >= 0) ?? -1;
  });
  const target = computed(() => {
    const found = events[event.value];
    const ready = settled.value && here.value?.visible === true;
    return ready && found ? ({ event: found, frame: here.value.frame } as Target) : null;
  });
  return { settled, here, event, elsewhere, target };
}
