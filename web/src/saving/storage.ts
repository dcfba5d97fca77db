// A part of localStorage for each server, reader and role: nobody sends or sees what another one
// decided, and two windows do not overwrite each other.

import type { Owner } from "./owner.ts";

/** A part of localStorage, or a Map in tests. */
export interface Store {
  names(): string[];
  get(name: string): string | null;
  put(name: string, text: string): void;
  drop(name: string): void;
}

/** The beginning of all names of a part. A slash in a name is escaped: no part is in another. */
export const storeName = (kind: "outbox" | "draft" | "view", { room, reader, role }: Owner): string =>
  `capsieve.${kind}/${[room, reader, role].map(encodeURIComponent).join("/")}/`;

export function storePart(kind: "outbox" | "draft" | "view", owner: Owner, storage: Storage = localStorage): Store {
  const prefix = storeName(kind, owner);
  return {
    names: () =>
      Array.from({ length: storage.length }, (_, i) => storage.key(i) ?? "")
        .filter((name) => name.startsWith(prefix))
        .map((name) => name.slice(prefix.length)),
    get: (name) => storage.getItem(prefix + name),
    put(name, text) {
      try {
        storage.setItem(prefix + name, text);
      } catch {
        // It is still in memory, and an action is on its way to the server: only a crash now loses it.
        console.warn("The browser's storage is full.");
      }
    },
    drop: (name) => storage.removeItem(prefix + name),
  };
}
