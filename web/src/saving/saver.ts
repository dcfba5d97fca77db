// The one outbox of this window: how parcels reach the server.

import { api, Refused, Unreached } from "../api/client.ts";
import type { Action, Entry } from "../api/types.ts";
import { makeOutbox, type Outbox, type Outcome, type Parcel } from "./outbox.ts";
import { shelfOf } from "./shelf.ts";

export type Saver = Outbox;

/** Answers that mean "not now": the server starts, is busy, or wants the link opened again. */
const LATER = new Set([401, 403, 408, 425, 429, 500, 502, 503, 504]);

const DOOR = new Set([401, 403]);

async function send(parcel: Parcel): Promise<Outcome<Entry | null>> {
  try {
    if (parcel.kind === "seen") {
      await api.saw(parcel.exam, parcel.body);
      return { outcome: "taken", answer: null };
    }
    const action = parcel.body as unknown as Action;
    return { outcome: "taken", answer: await api.act(parcel.exam, action) };
  } catch (error) {
    const sentence = troubleWords(error);
    const later = error instanceof Unreached || (error instanceof Refused && LATER.has(error.status));
    return { outcome: later || !(error instanceof Refused) ? "later" : "refused", sentence };
  }
}

function troubleWords(error: unknown): string {
  if (error instanceof Unreached) return "not connected";
  // A server that was started anew knows nobody yet; the cookie of the link is all that is missing.
  if (error instanceof Refused && DOOR.has(error.status)) return "open the room's link again in this browser";
  return error instanceof Error ? error.message : String(error);
}

export function makeSaver(reader: string, taken: (parcel: Parcel, entry: Entry | null) => void): Saver {
  const saver = makeOutbox<Entry | null>({
    shelf: shelfOf(reader),
    send,
    taken,
    wait: (milliseconds, then) => {
      const timer = setTimeout(then, milliseconds);
      return () => clearTimeout(timer);
    },
    now: () => Date.now(),
  });
  addEventListener("online", () => saver.kick());
  return saver;
}

/** A new key. randomUUID is missing where a centre serves the page without TLS. */
export function newKey(): string {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
