// The one outbox of this window: how items reach the server.

import { api } from "../api/client.ts";
import type { Action, LogEntry, Room } from "../api/types.ts";
import { makeDelivery } from "./delivery.ts";
import { makeOutbox, type Outbox, type Item } from "./outbox.ts";
import { storePart } from "./storage.ts";

export interface Saver extends Outbox {
  /** The connection was lost: who is logged in is asked before anything is sent again. */
  doubt(): void;
}

async function deliver(item: Item): Promise<LogEntry[]> {
  if (item.kind === "action") return api.act(item.exam, item.body as unknown as Action);
  const { key: _, ...body } = item.body; // sending it twice changes nothing: it needs no key
  await api.saw(item.exam, body);
  return [];
}

/** `done` hears of every item that the server has taken or refused. */
export function makeSaver(room: Room, done: (item: Item) => void): Saver {
  const delivery = makeDelivery<LogEntry[]>({
    owner: room,
    login: room.login,
    deliver,
    here: api.room,
    screening: async (exam) => (await api.exam(exam)).screening,
  });
  const outbox = makeOutbox<LogEntry[]>({
    owner: room,
    store: storePart("outbox", room),
    send: delivery.send,
    number: (entries) => entries.at(-1)?.number ?? null,
    done,
    wait: (milliseconds, then) => {
      const timer = setTimeout(then, milliseconds);
      return () => clearTimeout(timer);
    },
    now: () => Date.now(),
  });
  addEventListener("online", () => outbox.kick());
  return { ...outbox, doubt: delivery.doubt };
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
