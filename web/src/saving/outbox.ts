// Actions on their way to the server. Each is kept in the browser until the server has it, sent in
// order, and sent again with the same key after a lost answer: the server takes a key only once.
// What the server refuses is kept, too, until the reader has read why.

import { signal, type Signal } from "@preact/signals";
import { isOf, type Owner } from "./owner.ts";

/** Why the server would not take a parcel. */
export interface Refusal {
  sentence: string;
  /** The exam was screened anew after this window had opened it. */
  outdated: boolean;
}

export interface Parcel extends Owner {
  /** Sorts parcels in the order they were made. */
  order: string;
  exam: string;
  kind: "action" | "viewed";
  body: { key: string } & Record<string, unknown>;
  refused?: Refusal;
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
  | ({ outcome: "refused" } & Refusal)
  /** `alone`: it is this exam that has the trouble, and others may go on. */
  | { outcome: "later"; sentence: string; alone?: boolean };

export interface Status {
  /** Actions that the server does not have yet; the ledger's parcels are not counted. */
  waiting: number;
  connected: boolean;
  /** Why it is not connected, in a sentence. */
  sentence: string;
  /** What the server would not take, and nobody has read yet. */
  refused: readonly { parcel: Parcel; refusal: Refusal }[];
}

export interface Outbox {
  status: Signal<Status>;
  add(exam: string, kind: Parcel["kind"], body: Parcel["body"]): void;
  /** The actions about an exam that the server does not have yet. */
  waiting(exam: string): Parcel[];
  /**
   * The actions about an exam that the server has as entries after this number. What it said of the
   * exam before it had them is still on its way to the page, and must not make them undone.
   */
  taken(exam: string, after: number): Parcel[];
  /** Whether anything about an exam is on its way, the ledger's parcels included. */
  holds(exam: string): boolean;
  /** Try now, whatever the pause. */
  kick(): void;
  /** Resolves when nothing waits; nothing about this exam, where one is named. */
  empty(exam?: string): Promise<void>;
  /** The reader has read why this was refused. */
  forget(key: string): void;
}

interface Options<T> {
  /** Whose parcels are sent: others on the shelf are left alone. */
  owner: Owner;
  shelf: Shelf;
  send(parcel: Parcel): Promise<Outcome<T>>;
  /** The number of the entry that a parcel has become; null where it is none. */
  number(answer: T): number | null;
  /** The server has it, or has refused it. */
  done(parcel: Parcel): void;
  wait(milliseconds: number, then: () => void): () => void;
  now(): number;
}

const PAUSES = [500, 1000, 2000, 4000];

export function makeOutbox<T>({ owner, shelf, send, number, done, wait, now }: Options<T>): Outbox {
  const found = restored(shelf).filter((parcel) => isOf(parcel, owner));
  const parcels = found.filter(({ refused }) => refused === undefined);
  const told = found.flatMap((parcel) => (parcel.refused === undefined ? [] : [{ parcel, refusal: parcel.refused }]));
  const status = signal<Status>({ waiting: 0, connected: true, sentence: "", refused: told });
  let entered: { number: number; parcel: Parcel }[] = []; // taken, and perhaps not yet in what the page knows
  let serial = 0;
  let busy = false;
  let failures = 0;
  let cancel: (() => void) | null = null;
  let resolvers: { exam: string | undefined; resolve: () => void }[] = [];

  const holds = (exam?: string): boolean => parcels.some((parcel) => exam === undefined || parcel.exam === exam);

  const tell = (change: Partial<Status> = {}): void => {
    const waiting = parcels.filter((parcel) => parcel.kind === "action").length;
    status.value = { ...status.value, waiting, ...change };
    const free = resolvers.filter(({ exam }) => !holds(exam));
    resolvers = resolvers.filter((one) => !free.includes(one));
    for (const { resolve } of free) resolve();
  };

  const leave = (parcel: Parcel): void => {
    const at = parcels.indexOf(parcel);
    if (at >= 0) parcels.splice(at, 1);
  };

  /** Send what can be sent. Within an exam the order is kept; one exam does not hold up another. */
  const run = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    cancel?.();
    cancel = null;
    const stuck = new Set<string>();
    const next = (): Parcel | undefined => parcels.find(({ exam }) => !stuck.has(exam));
    for (let parcel = next(); parcel !== undefined; parcel = next()) {
      const result = await send(parcel);
      if (result.outcome === "later") {
        stuck.add(parcel.exam);
        tell({ connected: false, sentence: result.sentence });
        if (result.alone !== true) break;
        continue;
      }
      leave(parcel);
      const line = stuck.size > 0 ? {} : { connected: true, sentence: "" };
      if (result.outcome === "taken") {
        shelf.drop(parcel.order);
        const entry = number(result.answer);
        if (entry !== null) entered.push({ number: entry, parcel });
        done(parcel);
        tell(line);
      } else {
        const { sentence, outdated } = result;
        const kept: Parcel = { ...parcel, refused: { sentence, outdated } };
        shelf.put(kept.order, JSON.stringify(kept));
        done(parcel);
        tell({ ...line, refused: [...status.value.refused, { parcel: kept, refusal: { sentence, outdated } }] });
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

  tell();
  if (parcels.length > 0) queueMicrotask(() => void run());

  return {
    status,
    add(exam, kind, body) {
      const order = `${String(now()).padStart(15, "0")}.${String(serial++).padStart(6, "0")}.${body.key}`;
      const { room, reader, role } = owner;
      const parcel: Parcel = { order, room, reader, role, exam, kind, body };
      parcels.push(parcel);
      shelf.put(order, JSON.stringify(parcel));
      tell();
      void run();
    },
    waiting: (exam) => parcels.filter((parcel) => parcel.exam === exam && parcel.kind === "action"),
    taken(exam, after) {
      entered = entered.filter(({ number, parcel }) => parcel.exam !== exam || number > after);
      return entered.filter(({ parcel }) => parcel.exam === exam).map(({ parcel }) => parcel);
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
      for (const { parcel } of refused) if (parcel.body.key === key) shelf.drop(parcel.order);
      status.value = { ...status.value, refused: refused.filter(({ parcel }) => parcel.body.key !== key) };
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
