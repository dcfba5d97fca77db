// A bounded store that gives up what was used longest ago, and says so: bitmaps have to be closed.

export interface Ring<T> {
  has(key: string): boolean;
  /** The value, which counts as used now. */
  get(key: string): T | undefined;
  put(key: string, value: T): void;
  clear(): void;
  readonly size: number;
  readonly weight: number;
}

/** `most`: the sum of weights that is kept; the newest value is always kept. */
export function makeRing<T>(
  most: number,
  weigh: (value: T) => number,
  close: (value: T) => void,
): Ring<T> {
  const kept = new Map<string, T>();
  let weight = 0;

  const drop = (key: string, value: T): void => {
    kept.delete(key);
    weight -= weigh(value);
    close(value);
  };
  return {
    has: (key) => kept.has(key),
    get(key) {
      const value = kept.get(key);
      if (value !== undefined) {
        kept.delete(key);
        kept.set(key, value);
      }
      return value;
    },
    put(key, value) {
      const old = kept.get(key);
      if (old === value) return;
      if (old !== undefined) drop(key, old);
      kept.set(key, value);
      weight += weigh(value);
      for (const [oldest, other] of kept) {
        if (weight <= most || oldest === key) break;
        drop(oldest, other);
      }
    },
    clear() {
      for (const [key, value] of [...kept]) drop(key, value);
    },
    get size() {
      return kept.size;
    },
    get weight() {
      return weight;
    },
  };
}
