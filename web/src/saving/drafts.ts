// Texts that were typed and not added yet: kept in this browser, per server, reader and role, until
// they are added or discarded.

import { signal, type ReadonlySignal } from "@preact/signals";
import type { Owner } from "./owner.ts";

export interface Draft {
  exam: string;
  /** Which text it is: "exam", or the subject of a finding. */
  field: string;
  text: string;
}

export interface Drafts {
  all: ReadonlySignal<readonly Draft[]>;
  text(exam: string, field: string): string;
  /** An empty text ends the draft. */
  keep(exam: string, field: string, text: string): void;
}

export type Store = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

export function makeDrafts({ room, reader, role }: Owner, store: Store): Drafts {
  const prefix = `capsieve.draft/${[room, reader, role].map(encodeURIComponent).join("/")}/`;
  const stored = (): Draft[] => {
    const names = Array.from({ length: store.length }, (_, i) => store.key(i) ?? "");
    return names
      .filter((name) => name.startsWith(prefix))
      .sort()
      .map((name) => {
        const [exam = "", field = ""] = name.slice(prefix.length).split("/").map(decodeURIComponent);
        return { exam, field, text: store.getItem(name) ?? "" };
      });
  };
  const all = signal<readonly Draft[]>(stored());
  // Another window writes, too.
  if (typeof addEventListener === "function") addEventListener("storage", () => void (all.value = stored()));
  return {
    all,
    text: (exam, field) => all.value.find((one) => one.exam === exam && one.field === field)?.text ?? "",
    keep(exam, field, text) {
      const name = `${prefix}${[exam, field].map(encodeURIComponent).join("/")}`;
      const others = all.value.filter((one) => one.exam !== exam || one.field !== field);
      const empty = text.trim() === "";
      all.value = empty ? others : [...others, { exam, field, text }];
      try {
        if (empty) store.removeItem(name);
        else store.setItem(name, text);
      } catch {
        // The storage is full: the draft is kept while the window is open.
      }
    },
  };
}

const known = new Map<string, Drafts>();

/** The drafts of a reader. */
export function draftsOf(owner: Owner): Drafts {
  const name = JSON.stringify([owner.room, owner.reader, owner.role]);
  const found = known.get(name) ?? makeDrafts(owner, localStorage);
  known.set(name, found);
  return found;
}
