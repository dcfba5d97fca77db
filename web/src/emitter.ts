// A value that others watch: a signal, so that components which read it follow it.

import { signal } from "@preact/signals";

export interface Watched<T> {
  get(): T;
  set(value: T): void;
  /** Called with every new value, and once at the beginning. */
  watch(seen: (value: T) => void): () => void;
}

export function watched<T>(first: T): Watched<T> {
  const value = signal(first);
  const watchers = new Set<(value: T) => void>();
  return {
    get: () => value.value,
    set(next: T): void {
      if (Object.is(next, value.peek())) return;
      value.value = next;
      for (const watcher of [...watchers]) watcher(next);
    },
    watch(seen: (value: T) => void): () => void {
      watchers.add(seen);
      seen(value.peek());
      return () => void watchers.delete(seen);
    },
  };
}

/** The parts of a page that have to be undone when it is left. */
export function cleaner(): { add(undo: () => void): void; clean(): void } {
  const undos: (() => void)[] = [];
  return {
    add: (undo) => void undos.push(undo),
    clean: () => {
      for (const undo of undos.splice(0).reverse()) undo();
    },
  };
}
