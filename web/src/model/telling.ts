// An entry in a few words, for one who has to see which one is meant.

import type { Verdict } from "../api/types.ts";
import { VERDICTS } from "./words.ts";

interface Told {
  kind: string;
  subject: string;
  content: Record<string, unknown>;
}

const SUBJECTS: readonly (readonly [RegExp, string])[] = [
  [/^event:(\d+):(\d+)-(\d+)$/, "frames $2 to $3 of head $1"],
  [/^frame:(\d+):(\d+)$/, "frame $2 of head $1"],
  [/^finding:e(\d+)-(\d+)-(\d+)$/, "frames $2 to $3 of head $1"],
  [/^finding:.*$/, ""],
  [/^(?:landmark|segment):(.*)$/, "$1"],
  [/^exam$/, ""],
];

/** "verdict, frames 12 to 40 of head 0: accepted". */
export function entryWords({ kind, subject, content }: Told): string {
  const [pattern, words] = SUBJECTS.find(([one]) => one.test(subject)) ?? [/^.*$/, subject];
  const about = subject.replace(pattern, words);
  const said = saidWords(content);
  return `${kind}${about ? `, ${about}` : ""}${said ? `: ${said}` : ""}`;
}

function saidWords(content: Record<string, unknown>): string {
  const { verdict, text, grade, removed, frame, best_frame } = content;
  if (removed === true) return "removed";
  if (verdict !== undefined) return verdict === null ? "taken back" : (VERDICTS[verdict as Verdict]?.words ?? String(verdict));
  if (typeof text === "string" && text !== "") return `“${text}”`;
  if (grade !== undefined) return grade === null ? "no grade" : `grade ${String(grade)}`;
  const at = frame ?? best_frame;
  return typeof at === "number" ? `frame ${at}` : "";
}
