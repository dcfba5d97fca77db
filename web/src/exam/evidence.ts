// Evidence for the frame on the screen: asked for when one rests on it, and when somebody looks.

import { api } from "../api/client.ts";
import type { Evidence } from "../api/types.ts";
import { signal, type Signal } from "@preact/signals";
import type { Spot } from "../play/frames.ts";
import { makeRing } from "../play/ring.ts";

export type Known =
  | { state: "none" }
  | { state: "asking"; spot: Spot }
  | { state: "known"; spot: Spot; evidence: Evidence }
  | { state: "trouble"; spot: Spot; sentence: string };

export interface Explainer {
  known: Signal<Known>;
  /** Ask for the evidence of a frame, after a short rest; null: nobody looks. */
  ask(spot: Spot | null): void;
  map(spot: Spot, name: string): Promise<ImageBitmap | null>;
  close(): void;
}

const REST = 120;

export function makeExplainer(exam: string): Explainer {
  const known = signal<Known>({ state: "none" });
  const kept = makeRing<Evidence>(64, () => 1, () => {});
  const maps = makeRing<ImageBitmap>(6, () => 1, (bitmap) => bitmap.close());
  let timer: ReturnType<typeof setTimeout> | undefined;
  let controller = new AbortController();
  const name = ({ head, frame }: Spot): string => `${head}/${frame}`;

  const fetchOne = async (spot: Spot): Promise<void> => {
    const { signal } = controller;
    try {
      const evidence = await api.evidence(exam, spot.head, spot.frame, signal);
      kept.put(name(spot), evidence);
      if (!signal.aborted) known.value = { state: "known", spot, evidence };
    } catch (error) {
      const sentence = error instanceof Error ? error.message : String(error);
      if (!signal.aborted) known.value = { state: "trouble", spot, sentence };
    }
  };

  return {
    known,
    ask(spot) {
      clearTimeout(timer);
      controller.abort();
      controller = new AbortController();
      if (spot === null) return known.value = { state: "none" };
      const evidence = kept.get(name(spot));
      if (evidence) return known.value = { state: "known", spot, evidence };
      known.value = { state: "asking", spot };
      timer = setTimeout(() => void fetchOne(spot), REST);
    },
    async map(spot, map) {
      const key = `${name(spot)}/${map}`;
      const found = maps.get(key);
      if (found) return found;
      try {
        const bitmap = await api.map(exam, spot.head, spot.frame, map);
        maps.put(key, bitmap);
        return bitmap;
      } catch {
        return null;
      }
    },
    close() {
      clearTimeout(timer);
      controller.abort();
      maps.clear();
    },
  };
}
