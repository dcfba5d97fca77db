// Cleanliness by CC-CLEAR: three segments of 0 to 3, their sum, and what it means.

import type { Segment } from "../api/types.ts";

export const SEGMENTS: readonly Segment[] = ["right", "transverse", "left"];

export const SEGMENT_WORDS: Record<Segment, string> = {
  right: "right colon",
  transverse: "transverse colon",
  left: "left colon with rectum",
};

export const GRADE_WORDS: readonly string[] = [
  "below 50 % of the mucosa seen",
  "50 to 75 % seen",
  "above 75 % seen",
  "above 90 % seen",
];

export type Grades = Partial<Record<Segment, number | null>>;

export interface Cleanliness {
  sum: number | null;
  words: "excellent" | "good" | "inadequate" | null;
}

/** The sum once all three are graded. One segment of 1 or less is inadequate in any case. */
export function judge(grades: Grades): Cleanliness {
  const given = SEGMENTS.map((segment) => grades[segment]).filter((g) => typeof g === "number");
  if (given.length < SEGMENTS.length) return { sum: null, words: null };
  const bad = given.some((grade) => grade <= 1);
  const sum = given.reduce((total, grade) => total + grade, 0);
  if (bad || sum <= 5) return { sum, words: "inadequate" };
  return { sum, words: sum >= 8 ? "excellent" : "good" };
}
