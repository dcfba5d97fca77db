// What stood on the screen, and for how long.

export interface Batch {
  head: number;
  frames: [number, number][];
}

export interface Ledger {
  /** These frames stand on the screen from now on, until the next call. */
  show(frames: readonly { head: number; frame: number }[]): void;
  /** Nothing is on the screen: the window is hidden or left. */
  hide(): void;
  /** What was added up since the last call. */
  take(): Batch[];
  /** Milliseconds of a frame, those of earlier visits included. */
  seen(head: number): Float32Array | undefined;
}

/** Frames of each head, with what earlier visits added up. */
export function makeLedger(earlier: ReadonlyMap<number, Float32Array>, now: () => number): Ledger {
  let shown: readonly { head: number; frame: number }[] = [];
  let since = 0;
  let open = new Map<number, Map<number, number>>();

  const settle = (): void => {
    const time = now();
    const passed = time - since;
    since = time;
    for (const { head, frame } of shown) {
      let frames = open.get(head);
      if (frames === undefined) open.set(head, (frames = new Map()));
      frames.set(frame, (frames.get(frame) ?? 0) + passed);
      const total = earlier.get(head);
      if (total !== undefined) total[frame] = (total[frame] ?? 0) + passed;
    }
  };

  return {
    show(frames) {
      settle();
      shown = frames;
    },
    hide() {
      settle();
      shown = [];
    },
    take() {
      settle();
      const batches: Batch[] = [];
      for (const [head, frames] of open) {
        const list = [...frames]
          .map(([frame, ms]): [number, number] => [frame, Math.round(ms)])
          .filter(([, ms]) => ms > 0);
        if (list.length > 0) batches.push({ head, frames: list });
      }
      open = new Map();
      return batches;
    },
    seen: (head) => earlier.get(head),
  };
}

/** The server's sums: float32, little-endian, as base64. */
export function parseSeen(base64: string, frames: number): Float32Array {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const sums = new Float32Array(frames);
  sums.set(new Float32Array(bytes.buffer).subarray(0, frames));
  return sums;
}
