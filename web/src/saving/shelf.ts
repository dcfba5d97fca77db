// The outbox's place in localStorage: one item per parcel, so that two windows do not overwrite
// each other, and one part per room, reader and role, so that nobody sends what another one decided.

import type { Shelf } from "./outbox.ts";
import type { Owner } from "./owner.ts";

/** What all names on a shelf begin with. A slash in a name is escaped, so none is part of another. */
export const shelfName = ({ room, reader, role }: Owner, kind = "outbox"): string =>
  `capsieve.${kind}/${[room, reader, role].map(encodeURIComponent).join("/")}/`;

export function shelfOf(owner: Owner, storage: Storage = localStorage, kind = "outbox"): Shelf {
  const prefix = shelfName(owner, kind);
  return {
    names: () =>
      Array.from({ length: storage.length }, (_, i) => storage.key(i) ?? "")
        .filter((name) => name.startsWith(prefix))
        .map((name) => name.slice(prefix.length)),
    get: (name) => storage.getItem(prefix + name),
    put: (name, text) => {
      try {
        storage.setItem(prefix + name, text);
      } catch {
        // Full: the parcel is still in memory and on its way; only a crash now would lose it.
        console.warn("The browser's storage is full; an action is kept in memory only.");
      }
    },
    drop: (name) => storage.removeItem(prefix + name),
  };
}
