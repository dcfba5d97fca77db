// Actions on their way to the server. Each is kept in the browser until the server has it, sent in
// order, and sent again with the same key after a lost answer: the server takes a key only once.

import { watched } from "../emitter.ts";

export interface Parcel {
  /** Sorts parcels in the order they were made. */
  order: string;
  exam: string;
  kind: "entry" | "seen";
  body: { key: string } & Record<string, unknown>;
}

/** A part of localStorage, or a Map in tests. */
export interface Shelf {
  names(): string[];
  get(name: string): string | null;
  put(name: string, text: string): void;
  drop(name: string): void;
}

export type Outcome<T> =
  | { outcome: "taken"; answer: T }
  | { outcome: "refused"; sentence: string }
  | { outcome: "later"; sentence: string };

export interface Status {
  /** Actions that the server does not have yet; the ledger's parcels are not counted. */
  waiting: number;
  connected: boolean;
  /** Why it is not connected, in a sentence. */
  sentence: string;
  /** What the server would not take. */
  refused: { parcel: Parcel; sentence: string }[];
}

export interface Outbox {
  status: ReturnType<typeof watched<Status>>;
  add(exam: string, kind: Parcel["kind"], body: Parcel["body"]): void;
  waiting(exam: string): Parcel[];
  /** Try now, whatever the pause. */
  kick(): void;
  /** Resolves when nothing waits. */
  empty(): Promise<void>;
  forget(key: string): void;
}

interface Options<T> {
  shelf: Shelf;
  send(parcel: Parcel): Promise<Outcome<T>>;
  taken(parcel: Parcel, answer: T): void;
  wait(milliseconds: number, then: () => void): () => void;
  now(): number;
}

const PAUSES = [500, 1000, 2000, 4000];

export function makeOutbox<T>({ shelf, send, taken, wait, now }: Options<T>): Outbox {
  const parcels = restored(shelf);
  const status = watched<Status>({ waiting: 0, connected: true, sentence: "", refused: [] });
  let serial = 0;
  let busy = false;
  let failures = 0;
  let cancel: (() => void) | null = null;
  let resolvers: (() => void)[] = [];

  const tell = (change: Partial<Status> = {}): void => {
    const waiting = parcels.filter((parcel) => parcel.kind === "entry").length;
    status.set({ ...status.get(), waiting, ...change });
    if (parcels.length === 0) for (const resolve of resolvers.splice(0)) resolve();
  };

  const leave = (parcel: Parcel): void => {
    const at = parcels.indexOf(parcel);
    if (at >= 0) parcels.splice(at, 1);
    shelf.drop(parcel.order);
  };

  const run = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    cancel?.();
    cancel = null;
    for (let parcel = parcels[0]; parcel !== undefined; parcel = parcels[0]) {
      const result = await send(parcel);
      if (result.outcome === "later") {
        const pause = PAUSES[Math.min(failures, PAUSES.length - 1)] as number;
        failures++;
        tell({ connected: false, sentence: result.sentence });
        cancel = wait(pause, () => void run());
        break;
      }
      failures = 0;
      leave(parcel);
      if (result.outcome === "taken") {
        taken(parcel, result.answer);
        tell({ connected: true, sentence: "" });
      } else {
        // Every action that was not taken is shown; of the ledger's many parcels the last one.
        const shown = status.get().refused.filter((old) => old.parcel.kind === "entry" || parcel.kind === "entry");
        tell({ connected: true, sentence: "", refused: [...shown, { parcel, sentence: result.sentence }] });
      }
    }
    busy = false;
  };

  tell();
  if (parcels.length > 0) queueMicrotask(() => void run());

  return {
    status,
    add(exam, kind, body) {
      const order = `${String(now()).padStart(15, "0")}.${String(serial++).padStart(6, "0")}.${body.key}`;
      const parcel: Parcel = { order, exam, kind, body };
      parcels.push(parcel);
      shelf.put(order, JSON.stringify(parcel));
      tell();
      void run();
    },
    waiting: (exam) => parcels.filter((parcel) => parcel.exam === exam && parcel.kind === "entry"),
    kick: () => void run(),
    empty: () =>
      parcels.length === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            resolvers = [...resolvers, resolve];
          }),
    forget(key) {
      const refused = status.get().refused.filter((entry) => entry.parcel.body.key !== key);
      status.set({ ...status.get(), refused });
    },
  };
}

function restored(shelf: Shelf): Parcel[] {
  const found: Parcel[] = [];
  for (const name of shelf.names().sort()) {
    try {
      found.push(JSON.parse(shelf.get(name) ?? "") as Parcel);
    } catch {
      // Half-written when the browser died: the action never showed as saved.
      shelf.drop(name);
    }
  }
  return found;
}
