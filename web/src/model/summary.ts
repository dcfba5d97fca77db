// What a reader is told before signing, and what needs a reason.

import type { Reading, Room, SieveEvent, Spot } from "../api/types.ts";
import { judge, SEGMENT_WORDS, SEGMENTS } from "./clear.ts";
import { landmarkProblems } from "./landmarks.ts";
import { decisionOn } from "./events.ts";
import { eventSubject } from "./subjects.ts";
import { clock, count, plural, share } from "./words.ts";

/** Where a line leads: a frame, or a part of the panel. */
export type Link = Spot | "Findings" | "Exam";

export interface Line {
  words: string;
  /** A tick is only for what is good. */
  good: boolean;
  link: Link | null;
}

/** What is signed only with a reason. */
export interface Open {
  key: string;
  words: string;
  link: Link | null;
}

export interface Facts {
  room: Room;
  reading: Reading;
  /** Best first. */
  events: readonly SieveEvent[];
  /** The events that need a decision of this reader. */
  offered: readonly SieveEvent[];
  positions: ReadonlyMap<number, ArrayLike<number>>;
  hasTimes: boolean;
  /** Pre-reader decisions that were not displayed to this validator. */
  toValidate: readonly Spot[];
  withoutPicture: readonly Spot[];
  /** Listed frames, and those of them that were not displayed to this reader. */
  listed: number;
  notDisplayed: readonly Spot[];
}

export const WITHOUT_PICTURE = "frames-without-picture";
export const NOT_DISPLAYED = "not-displayed";

/** "Event 3, 0:12:04". */
export function eventWords({ events, positions, hasTimes }: Facts, event: SieveEvent): string {
  const time = positions.get(event.head)?.[event.best_frame];
  const at = hasTimes && time !== undefined ? clock(time) : `frame ${count(event.best_frame)}`;
  return `Event ${events.indexOf(event) + 1}, ${at}`;
}

const bestOf = ({ head, best_frame }: SieveEvent): Spot => ({ head, frame: best_frame });

export function openPoints(facts: Facts): Open[] {
  const { reading, offered, toValidate, withoutPicture } = facts;
  const undecided = offered.filter((event) => decisionOn(reading, event) === null);
  return [
    ...undecided.map((event) => ({ key: eventSubject(event), words: eventWords(facts, event), link: bestOf(event) })),
    ...(withoutPicture.length > 0
      ? [{ key: WITHOUT_PICTURE, words: `${plural(withoutPicture.length, "frame")} without a picture`, link: withoutPicture[0] ?? null }]
      : []),
    ...(toValidate.length > 0
      ? [{ key: NOT_DISPLAYED, words: `${count(toValidate.length)} to validate: decisions of the pre-reader that were not displayed to you`, link: toValidate[0] ?? null }]
      : []),
  ];
}

export function summaryLines(facts: Facts): Line[] {
  const { room, reading, events, offered, positions, listed, notDisplayed } = facts;
  const decided = offered.filter((event) => decisionOn(reading, event) !== null).length;
  const unsure = events.filter((event) => decisionOn(reading, event) === "unsure");
  const of = offered.length < events.length && room.role !== "consensus" ? ` offered events, of ${count(events.length)} in all` : room.role === "consensus" ? " events on which the readers differ" : " events";
  const bare = SEGMENTS.filter((segment) => typeof reading.cleanliness.segments[segment] !== "number");
  const { sum, words } = judge(reading.cleanliness.segments);
  const sizeless = reading.findings.find(({ content }) => content.size === null);
  const without = reading.findings.filter(({ content }) => content.size === null).length;
  const line = (words: string, good: boolean, link: Link | null = null): Line => ({ words, good, link });
  return [
    offered.length === 0 ? line("No event to decide.", true) : line(`${count(decided)} of ${count(offered.length)}${of} decided.`, decided === offered.length),
    ...(unsure[0] ? [line(`${plural(unsure.length, "event")} unsure.`, false, bestOf(unsure[0]))] : []),
    line(`${count(listed - notDisplayed.length)} of ${plural(listed, "frame")} to read displayed.`, notDisplayed.length === 0, notDisplayed[0] ?? null),
    line(`${share(reading.seen.displayed, reading.seen.of)} of all frames displayed (${count(reading.seen.displayed)} of ${count(reading.seen.of)}).`, reading.seen.displayed >= reading.seen.of),
    sizeless
      ? line(`${plural(reading.findings.length, "finding")}, ${count(without)} without a size.`, false, sizeless.content.best)
      : line(`${plural(reading.findings.length, "finding")}.`, true, null),
    bare.length > 0
      ? line(`No grade of cleanliness: ${bare.map((segment) => SEGMENT_WORDS[segment]).join(", ")}.`, false, "Exam")
      : line(`Cleanliness: ${sum} of 9, ${words}.`, words !== "inadequate", "Exam"),
    ...landmarkProblems(reading, positions).map((problem) => line(problem, false, "Exam")),
    ...reading.problems.map((problem) => line(problem, false, "Exam")),
  ];
}
