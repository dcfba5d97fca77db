// Which frames were displayed. A frame counts as viewed if at least 45 ms pass until the next drawing:
// at 20 frames per second frames are viewed, at 30 they are only displayed.

import type { Span } from "../api/types.ts";
import { spansOf } from "../model/subjects.ts";

const LEAST = 45; // milliseconds

export interface Batch {
  head: number;
  displayed: Span[];
  viewed: Span[];
}

export interface Viewed {
  /** These frames were drawn just now, and stay until the next call. */
  show(frames: readonly { head: number; frame: number }[]): void;
  /** Nothing is on the screen: the window is hidden or left. */
  hide(): void;
  /** What was added since the last call. */
  take(): Batch[];
  /** One byte per frame, 1 for displayed frames; those of earlier visits included. */
  displayed(head: number): Uint8Array | undefined;
}

/** `earlier`: frames that were displayed on earlier visits. */
export function makeViewed(earlier: ReadonlyMap<number, Uint8Array>, now: () => number): Viewed {
  let shown: readonly { head: number; frame: number }[] = [];
  let since = 0;
  let open = new Map<number, { displayed: Set<number>; viewed: Set<number> }>();
  const known = new Map<number, Set<number>>(); // viewed before: they need not be sent again

  const of = (head: number): { displayed: Set<number>; viewed: Set<number> } => {
    const found = open.get(head) ?? { displayed: new Set(), viewed: new Set() };
    open.set(head, found);
    return found;
  };
  const settle = (): void => {
    if (now() - since < LEAST) return;
    for (const { head, frame } of shown) {
      const before = known.get(head) ?? new Set();
      known.set(head, before);
      if (!before.has(frame)) of(head).viewed.add(frame);
      before.add(frame);
    }
  };

  return {
    show(frames) {
      settle();
      shown = frames;
      since = now();
      for (const { head, frame } of frames) {
        const bytes = earlier.get(head);
        if (bytes?.[frame] === 1) continue;
        of(head).displayed.add(frame);
        if (bytes) bytes[frame] = 1;
      }
    },
    hide() {
      settle();
      shown = [];
    },
    take() {
      settle();
      const batches = [...open]
        .map(([head, { displayed, viewed }]) => ({ head, displayed: spansOf(head, displayed), viewed: spansOf(head, viewed) }))
        .filter(({ displayed, viewed }) => displayed.length + viewed.length > 0);
      open = new Map();
      return batches;
    },
    displayed: (head) => earlier.get(head),
  };
}

/** The server's bitmap, the first frame in bit 0, as one byte per frame. */
export function parseBits(base64: string, frames: number): Uint8Array {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return Uint8Array.from({ length: frames }, (_, frame) => ((bytes[frame >> 3] ?? 0) >> (frame & 7)) & 1);
}
