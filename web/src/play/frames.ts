// Loading of frames: requested in packs, kept as bytes, decoded shortly before use.
//
// Two bounded stores: bytes (small, many, so that going back is quick) and bitmaps (large, few).

import { api } from "../api/client.ts";
import type { Packed } from "../api/pack.ts";
import { makeRing } from "./ring.ts";

export interface Spot {
  head: number;
  frame: number;
}

/** A decoded frame, or the sentence why there is none. */
export type Picture = { bitmap: ImageBitmap; sentence?: undefined } | { bitmap: null; sentence: string };

export interface Frames {
  /** The picture if it is decoded. */
  ready(spot: Spot): Picture | undefined;
  /** What will be shown, soonest first; requests for other frames are cancelled. */
  want(spots: readonly Spot[]): void;
  /** Called whenever a picture became ready. */
  onready: () => void;
  /** Load the nearest earlier key frames, which decode at once. While a request runs, only the last call counts. */
  drag(spots: readonly Spot[]): void;
  /** Called with the key frames, under their own numbers. */
  ondragged: (spots: Spot[], pictures: Picture[]) => void;
  /** Called when the server could not be reached, and with null when it could again. */
  ontrouble: (sentence: string | null) => void;
  close(): void;
  bitmaps(): number;
}

const BITMAPS = 64;
const BYTES = 48e6;
const DECODE_AHEAD = 28;
const PACK = 32;
const FIRST_PACK = 4; // what comes right after it is near, and soon wanted
const REQUESTS = 2;

const name = ({ head, frame }: Spot): string => `${head}/${frame}`;

async function toPicture({ type, bytes }: Packed): Promise<Picture> {
  if (type === "") return { bitmap: null, sentence: sentenceOf(new TextDecoder().decode(bytes)) };
  try {
    return { bitmap: await createImageBitmap(new Blob([bytes], { type })) };
  } catch {
    return { bitmap: null, sentence: "The browser cannot decode this frame." };
  }
}

/** The server's reason with a capital and a full stop. */
function sentenceOf(reason: string): string {
  if (reason === "") return "This frame cannot be shown.";
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}${reason.endsWith(".") ? "" : "."}`;
}

export function makeFrames(exam: string): Frames {
  const bytes = makeRing<Packed>(BYTES, (p) => p.bytes.length + 64, () => {});
  const pictures = makeRing<Picture>(BITMAPS, () => 1, (picture) => picture.bitmap?.close());
  const decoding = new Set<string>();
  const asked = new Map<string, AbortController>();
  const alone = new Set<string>(); // asked for in no pack, and not ready yet
  let wanted: readonly Spot[] = [];
  let dragged: readonly Spot[] | null = null; // the last place of a drag, not requested yet
  let dragRequest: AbortController | null = null;
  let requests = 0;
  let closed = false;
  let rest: ReturnType<typeof setTimeout> | undefined; // after a failure, before the next try

  const decode = async (spot: Spot, packed: Packed): Promise<void> => {
    const key = name(spot);
    if (decoding.has(key) || pictures.has(key)) return;
    decoding.add(key);
    const picture = await toPicture(packed);
    decoding.delete(key);
    alone.delete(key);
    if (closed) return void picture.bitmap?.close();
    pictures.put(key, picture);
    frames.onready();
    pump();
  };

  const keyFrame = async (spot: Spot, signal: AbortSignal): Promise<[Spot, Picture]> => {
    const packed = await api.keyFrame(exam, spot.head, spot.frame, signal);
    const found = { head: spot.head, frame: packed.number };
    bytes.put(name(found), packed);
    if (!pictures.has(name(found))) {
      const picture = await toPicture(packed);
      if (pictures.has(name(found))) picture.bitmap?.close(); // decoded meanwhile as a wanted frame
      else pictures.put(name(found), picture);
    }
    return [found, pictures.get(name(found)) as Picture];
  };

  const fetchDragged = async (): Promise<void> => {
    if (dragged === null || dragRequest !== null || closed) return;
    const controller = (dragRequest = new AbortController());
    const spots = dragged;
    dragged = null;
    try {
      const found = await Promise.all(spots.map((spot) => keyFrame(spot, controller.signal)));
      if (!controller.signal.aborted) {
        frames.ondragged(found.map(([spot]) => spot), found.map(([, picture]) => picture));
        frames.ontrouble(null);
      }
    } catch (error) {
      if (!controller.signal.aborted) frames.ontrouble(error instanceof Error ? error.message : String(error));
    }
    dragRequest = null;
    void fetchDragged();
  };

  const fetchPack = async (head: number, numbers: number[]): Promise<void> => {
    const controller = new AbortController();
    const keys = numbers.map((frame) => name({ head, frame }));
    for (const key of keys) asked.set(key, controller);
    requests++;
    try {
      const packs = await api.pack(exam, head, numbers, controller.signal);
      for (const packed of packs) bytes.put(name({ head, frame: packed.number }), packed);
      const came = new Set(packs.map((packed) => packed.number));
      for (const frame of numbers) {
        if (!came.has(frame)) bytes.put(name({ head, frame }), { number: frame, type: "", bytes: new Uint8Array() });
      }
      frames.ontrouble(null);
    } catch (error) {
      if (!controller.signal.aborted) {
        frames.ontrouble(error instanceof Error ? error.message : String(error));
        clearTimeout(rest);
        rest = setTimeout(() => {
          rest = undefined;
          pump();
        }, 1000);
      }
    }
    for (const key of keys) {
      if (asked.get(key) === controller) asked.delete(key);
      if (!bytes.has(key)) alone.delete(key);
    }
    requests--;
    pump();
  };

  const pump = (): void => {
    if (closed) return;
    for (const spot of wanted.slice(0, DECODE_AHEAD)) {
      const packed = bytes.get(name(spot));
      if (packed !== undefined) void decode(spot, packed);
    }
    // A jump waits for its own frame alone (of each head): until that can be drawn, neither the
    // server nor the browser has anything else to do. What playback waits for is on its way in a
    // pack already, and holds nothing up.
    const now = wanted.slice(0, 2).filter((spot, i) => i === 0 || spot.head !== wanted[0]?.head);
    for (const { head, frame } of rest === undefined ? now : []) {
      const key = name({ head, frame });
      if (bytes.has(key) || asked.has(key) || requests >= REQUESTS) continue;
      alone.add(key);
      void fetchPack(head, [frame]);
    }
    if (now.some((spot) => alone.has(name(spot)))) return;
    while (requests < REQUESTS && rest === undefined) {
      const missing = wanted.filter((spot) => !bytes.has(name(spot)) && !asked.has(name(spot)));
      const first = missing[0];
      if (first === undefined) return;
      const urgent = wanted.indexOf(first) < 2;
      const numbers = missing.filter((spot) => spot.head === first.head).map((spot) => spot.frame);
      void fetchPack(first.head, [...new Set(numbers)].slice(0, urgent ? FIRST_PACK : PACK));
    }
  };

  const frames: Frames = {
    ready: (spot) => pictures.get(name(spot)),
    want(spots) {
      dragged = null;
      dragRequest?.abort();
      wanted = spots;
      const keys = new Set(spots.slice(0, 200).map(name));
      for (const controller of new Set(asked.values())) {
        const useful = [...asked].some(([key, owner]) => owner === controller && keys.has(key));
        if (!useful) controller.abort();
      }
      pump();
    },
    drag(spots) {
      if (wanted.length > 0) frames.want([]);
      dragged = spots;
      void fetchDragged();
    },
    onready: () => {},
    ondragged: () => {},
    ontrouble: () => {},
    close() {
      closed = true;
      dragRequest?.abort();
      clearTimeout(rest);
      for (const controller of asked.values()) controller.abort();
      pictures.clear();
      bytes.clear();
    },
    bitmaps: () => pictures.size,
  };
  return frames;
}
