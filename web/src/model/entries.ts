// An entry in a few words, for one who has to see which one is meant.

import type { Content, SieveEvent } from "../api/types.ts";
import { eventSubject } from "./subjects.ts";
import { DECISIONS } from "./words.ts";

const SUBJECTS: readonly (readonly [RegExp, string])[] = [
  [/^event:(\d+):(\d+)$/, "event with frame $2 of head $1"],
  [/^frame:(\d+):(\d+)$/, "frame $2 of head $1"],
  [/^finding:e(\d+)-(\d+)$/, "event with frame $2 of head $1"],
  [/^finding:.*$/, ""],
  [/^(?:landmark|segment):(.*)$/, "$1"],
  [/^exam$/, ""],
];

/** "decision, event with frame 12 of head 0: accepted"; or with the exam's events "event 2 accepted". */
export function entryWords(content: Content | null, events: readonly SieveEvent[] = []): string {
  if (content === null) return "an entry that cannot be read";
  const subject = "subject" in content ? content.subject : "";
  const place = events.findIndex((event) => eventSubject(event) === subject);
  if (content.kind === "decision" && place >= 0) return `event ${place + 1} ${saidWords(content)}`;
  const [pattern, words] = SUBJECTS.find(([one]) => one.test(subject)) ?? [/^.*$/, subject];
  const about = subject.replace(pattern, words);
  const said = saidWords(content);
  const kind = content.kind === "removed" ? content.of : content.kind;
  return `${kind}${about ? `, ${about}` : ""}${said ? `: ${said}` : ""}`;
}

function saidWords(content: Content): string {
  switch (content.kind) {
    case "decision":
      return DECISIONS[content.decision]?.words ?? content.decision;
    case "removed":
      return "removed";
    case "note":
    case "urgent":
      return content.text === "" ? "" : `“${content.text}”`;
    case "cleanliness":
      return `grade ${content.grade}`;
    case "landmark":
      return `frame ${content.frame}`;
    case "finding":
      return `frame ${content.best.frame}`;
    case "reopen":
      return content.reason;
    default:
      return "";
  }
}

/** An action in a few words: its decision, or its first entry. */
export function actionWords(entries: readonly (Content | null)[], events: readonly SieveEvent[] = []): string {
  return entryWords(entries.find((content) => content?.kind === "decision") ?? entries[0] ?? null, events);
}
