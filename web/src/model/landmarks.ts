// Landmarks and segments that contradict each other: the reader is warned, and decides.

import type { FindingContent, Landmark, Location, Reading } from "../api/types.ts";
import { clock, LANDMARKS, LOCATIONS } from "./words.ts";

type Positions = ReadonlyMap<number, ArrayLike<number>>;

/** The landmarks that a segment lies between. */
const BETWEEN: Record<Location, readonly [Landmark, Landmark]> = {
  right: ["first-colon", "hepatic-flexure"],
  caecum: ["first-colon", "hepatic-flexure"],
  ascending: ["first-colon", "hepatic-flexure"],
  "hepatic-flexure": ["caecum", "splenic-flexure"],
  transverse: ["hepatic-flexure", "splenic-flexure"],
  "splenic-flexure": ["hepatic-flexure", "rectum"],
  left: ["splenic-flexure", "last-colon"],
  descending: ["splenic-flexure", "rectum"],
  sigmoid: ["splenic-flexure", "rectum"],
  rectum: ["splenic-flexure", "last-colon"],
};

const wordsOf = (landmark: Landmark): string => LANDMARKS.find(([name]) => name === landmark)?.[1] ?? landmark;

const positionOf = (reading: Reading, landmark: Landmark, positions: Positions): number | undefined => {
  const mark = reading.landmarks[landmark]?.content;
  return mark && positions.get(mark.head)?.[mark.frame];
};

/** Messages about landmarks that are marked before an earlier one. */
export function landmarkProblems(reading: Reading, positions: Positions): string[] {
  const found: string[] = [];
  let latest: { words: string; at: number } | null = null;
  for (const [name, words] of LANDMARKS) {
    const at = positionOf(reading, name, positions);
    if (at === undefined) continue;
    if (latest !== null && at < latest.at) found.push(`The ${words} is marked before the ${latest.words}.`);
    else latest = { words, at };
  }
  return found;
}

/** Why the segment of a finding contradicts a landmark; null if it does not. */
export function segmentProblem({ best, segment }: FindingContent, reading: Reading, positions: Positions): string | null {
  const at = positions.get(best.head)?.[best.frame];
  if (segment === null || at === undefined) return null;
  const place = LOCATIONS.find(([name]) => name === segment)?.[1] ?? segment;
  const [after, before] = BETWEEN[segment];
  const [start, end] = [positionOf(reading, after, positions), positionOf(reading, before, positions)];
  if (start !== undefined && at < start) return `The finding is before the ${wordsOf(after)}, which does not fit the ${place}.`;
  if (end !== undefined && at > end) return `The finding is after the ${wordsOf(before)}, which does not fit the ${place}.`;
  return null;
}

/** From the first to the last frame of the colon; null if one of them is not marked. */
export function transit(reading: Reading, positions: Positions): string | null {
  const [start, end] = [positionOf(reading, "first-colon", positions), positionOf(reading, "last-colon", positions)];
  return start === undefined || end === undefined || end < start ? null : clock(end - start);
}
