// What the server refused, in words.

import type { Content } from "../api/types.ts";
import type { Status } from "../saving/outbox.ts";
import { actionWords } from "./entries.ts";
import { plural } from "./words.ts";

/** "2 actions not taken"; if it is only displayed frames, that. */
export function refusedWords(refused: Status["refused"]): string {
  const actions = refused.filter(({ item }) => item.kind === "action").length;
  return actions > 0 ? `${plural(actions, "action")} not taken` : "displayed frames were not taken";
}

/** One line for each action; displayed frames are one line for an exam and a reason. */
export function refusedLines(refused: Status["refused"]): { exam: string; what: string; why: string }[] {
  const lines = refused.map(({ item, refusal }) => ({
    exam: item.exam,
    what: item.kind === "viewed" ? "displayed frames" : actionWords(item.body["entries"] as Content[]),
    why: refusal.sentence,
    viewed: item.kind === "viewed",
  }));
  return lines
    .filter((line, at) => !line.viewed || lines.findIndex((one) => one.viewed && one.exam === line.exam && one.why === line.why) === at)
    .map(({ exam, what, why }) => ({ exam, what, why }));
}
