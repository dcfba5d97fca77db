// Actions on their way to the server. Each is kept in the browser until the server has it, sent in
// order, and sent again with the same key after a lost answer: the server takes a key only once.
// What the server refuses is kept, too, until the reader has read why.

import { signal, type Signal } from "@preact/signals";
import { isOf, type Owner } from "./owner.ts";
import type { Store } from "./storage.ts";

/** Why the server would not take a item. */
export interface Refusal {
  sentence: string;
  /** The exam was screened again after this window had opened it. */
  outdated: boolean;
}

export interface Item extends Owner {
  /** Sorts items in the order they were made. */
  order: string;
  exam: string;
  kind: "action" | "viewed";
  body: { key: string } & Record<string, unknown>;
  refused?: Refusal;
}

export type Outcome<T> =
  | { outcome: "taken"; answer: T }
  | ({ outcome: "refused" } & Refusal)
  /** `alone`: it is this exam that has the trouble, and others may continue. */
  | { outcome: "later"; sentence: string; alone?: boolean };

export interface Status {
  /** Actions that the server does not have yet. */
  waiting: number;
  connected: boolean;
  /** Why it is not connected. */
  sentence: string;
  /** What the server would not take, and nobody has read yet. */
  refused: readonly { item: Item; refusal: Refusal }[];
}

export interface Outbox {
  status: Signal<Status>;
  add(exam: string, kind: Item["kind"], body: Item["body"]): void;
  /** The actions about an exam that the server does not have yet. */
  waiting(exam: string): Item[];
  /**
   * The actions about an exam that the server has as entries after this number. What it said of the
   * exam before it had them is still on its way to the page, and must not make them undone.
   */
  taken(exam: string, after: number): Item[];
  /** Whether anything about an exam is on its way, displayed frames included. */
  holds(exam: string): boolean;
  /** Try now, without the pause. */
  kick(): void;
  /** Resolves when nothing waits; nothing about this exam, where one is named. */
  empty(exam?: string): Promise<void>;
  /** The reader has read why this was refused. */
  forget(key: string): void;
}

interface Options<T> {
  /** Whose items are sent. */
  owner: Owner;
  store: Store;
  send(item: Item): Promise<Outcome<T>>;
  /** The number of the entry that a item has become; null where it is none. */
  number(answer: T): number | null;
  /** The server has it, or has refused it. */
  done(item: Item): void;
  wait(milliseconds: number, then: () => void): () => void;
  now(): number;
}

const PAUSES = [500, 1000, 2000, 4000];

export function makeOutbox<T>({ owner, store, send, number, done, wait, now }: Options<T>): Outbox {
  const found = restored(store).filter((item) => isOf(item, owner));
  const items = found.filter(({ refused }) => refused === undefined);
  const told = found.flatMap((item) => (item.refused === undefined ? [] : [{ item, refusal: item.refused }]));
  const status = signal<Status>({ waiting: 0, connected: true, sentence: "", refused: told });
  let entered: { number: number; item: Item }[] = []; // taken, and perhaps not yet in what the page knows
  let serial = 0;
  let busy = false;
  let failures = 0;
  let cancel: (() => void) | null = null;
  let resolvers: { exam: string | undefined; resolve: () => void }[] = [];

  const holds = (exam?: string): boolean => items.some((item) => exam === undefined || item.exam === exam);

  const update = (change: Partial<Status> = {}): void => {
    const waiting = items.filter((item) => item.kind === "action").length;
    status.value = { ...status.value, waiting, ...change };
    const free = resolvers.filter(({ exam }) => !holds(exam));
    resolvers = resolvers.filter((one) => !free.includes(one));
    for (const { resolve } of free) resolve();
  };

  const leave = (item: Item): void => {
    const at = items.indexOf(item);
    if (at >= 0) items.splice(at, 1);
  };

  /** Send what can be sent. Within an exam the order is kept; one exam does not hold up another. */
  const run = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    cancel?.();
    cancel = null;
    const stuck = new Set<string>();
    const next = (): Item | undefined => items.find(({ exam }) => !stuck.has(exam));
    for (let item = next(); item !== undefined; item = next()) {
      const result = await send(item);
      if (result.outcome === "later") {
        stuck.add(item.exam);
        update({ connected: false, sentence: result.sentence });
        if (result.alone !== true) break;
        continue;
      }
      leave(item);
      const line = stuck.size > 0 ? {} : { connected: true, sentence: "" };
      if (result.outcome === "taken") {
        store.drop(item.order);
        const entry = number(result.answer);
        if (entry !== null) entered.push({ number: entry, item });
        done(item);
        update(line);
      } else {
        const { sentence, outdated } = result;
        const kept: Item = { ...item, refused: { sentence, outdated } };
        store.put(kept.order, JSON.stringify(kept));
        done(item);
        update({ ...line, refused: [...status.value.refused, { item: kept, refusal: { sentence, outdated } }] });
      }
    }
    busy = false;
    if (stuck.size === 0) {
      failures = 0;
      return;
    }
    const pause = PAUSES[Math.min(failures, PAUSES.length - 1)] as number;
    failures++;
    cancel = wait(pause, () => void run());
  };

  update();
  if (items.length > 0) queueMicrotask(() => void run());

  return {
    status,
    add(exam, kind, body) {
      const order = `${String(now()).padStart(15, "0")}.${String(serial++).padStart(6, "0")}.${body.key}`;
      const { room, reader, role } = owner;
      const item: Item = { order, room, reader, role, exam, kind, body };
      items.push(item);
      store.put(order, JSON.stringify(item));
      update();
      void run();
    },
    waiting: (exam) => items.filter((item) => item.exam === exam && item.kind === "action"),
    taken(exam, after) {
      entered = entered.filter(({ number, item }) => item.exam !== exam || number > after);
      return entered.filter(({ item }) => item.exam === exam).map(({ item }) => item);
    },
    holds,
    kick: () => void run(),
    empty: (exam) =>
      holds(exam)
        ? new Promise((resolve) => {
            resolvers = [...resolvers, { exam, resolve }];
          })
        : Promise.resolve(),
    forget(key) {
      const refused = status.value.refused;
      for (const { item } of refused) if (item.body.key === key) store.drop(item.order);
      status.value = { ...status.value, refused: refused.filter(({ item }) => item.body.key !== key) };
    },
  };
}

function restored(store: Store): Item[] {
  const found: Item[] = [];
  for (const name of store.names().sort()) {
    try {
      found.push(JSON.parse(store.get(name) ?? "") as Item);
    } catch {
      // Half-written when the browser died: the action never showed as saved.
      store.drop(name);
    }
  }
  return found;
}
