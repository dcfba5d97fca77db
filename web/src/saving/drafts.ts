// Typed text that was not added yet: kept in the browser for each server, reader, role and exam, and
// not lost at a reload or at signing.

import { signal } from "@preact/signals";
import type { Store } from "./storage.ts";

/** A text field of an exam: a new note, the note of a finding, or a reason. */
export type Field = "note" | "reopen" | `finding:${string}` | `reason:${string}`;

export interface Drafts {
  get(exam: string, field: Field): string | null;
  /** Keep a text; null removes it. */
  keep(exam: string, field: Field, text: string | null): void;
  /** The fields of an exam with typed text, in words. */
  of(exam: string): string[];
  /** The exams with typed text. */
  exams(): string[];
}

/** `store`: the part of localStorage for this server, reader and role. */
export function makeDrafts(store: Store): Drafts {
  const read = (): Map<string, string> => new Map(store.names().map((name) => [name, store.get(name) ?? ""]));
  const texts = signal<ReadonlyMap<string, string>>(read());
  const nameOf = (exam: string, field: string): string => [exam, field].map(encodeURIComponent).join("/");
  const parts = (): [string, string][] => [...texts.value.keys()].map((name) => name.split("/").map(decodeURIComponent) as [string, string]);
  return {
    get: (exam, field) => texts.value.get(nameOf(exam, field)) ?? null,
    keep(exam, field, text) {
      const name = nameOf(exam, field);
      const next = new Map(texts.peek());
      if (text === null) {
        store.drop(name);
        next.delete(name);
      } else {
        store.put(name, text);
        next.set(name, text);
      }
      texts.value = next;
    },
    of: (exam) => parts().filter(([of]) => of === exam).map(([, field]) => fieldWords(field)),
    exams: () => [...new Set(parts().map(([exam]) => exam))],
  };
}

function fieldWords(field: string): string {
  if (field === "note") return "a note";
  if (field === "reopen") return "the reason to reopen";
  return field.startsWith("reason:") ? "a reason for the signature" : "the note of a finding";
}
