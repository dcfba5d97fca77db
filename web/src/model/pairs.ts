// An accepted event and its finding: two entries that are one action, taken back and done again
// together.

import type { Entry } from "../api/types.ts";

const idOf = (entry: Entry): string => entry.subject.split(":")[1] ?? "";

/** The entries that stand: not taken back, or taken back and done again. */
function standing(entries: readonly Entry[]): Entry[] {
  const undone = new Set<number>();
  for (const entry of entries.toReversed()) {
    if (entry.kind === "undo" && !undone.has(entry.number)) undone.add(entry.undoes as number);
  }
  return entries.filter((entry) => entry.kind !== "undo" && !undone.has(entry.number));
}

/** The finding's entry that was made together with a verdict; null where there was none. */
export function partnerOf(all: readonly Entry[], verdict: Entry | undefined): Entry | null {
  if (verdict?.kind !== "verdict") return null;
  const before = all.filter((one) => one.reader === verdict.reader && one.number < verdict.number).at(-1);
  if (before?.kind !== "finding") return null;
  const earlier = standing(all.filter((one) => one.number < before.number)).filter((one) => one.subject === before.subject && one.kind === "finding");
  const last = earlier.at(-1);
  const removed = before.content["removed"] === true;
  if (!removed) {
    // Made with the verdict, and not described further: there was none, or it had been removed.
    const made = last === undefined || last.content["removed"] === true;
    return made && verdict.content["finding"] === idOf(before) ? before : null;
  }
  const frames = last?.content["frames"] as number[] | undefined;
  return verdict.content["finding"] === null && frames?.includes(verdict.content["best_frame"] as number) ? before : null;
}
