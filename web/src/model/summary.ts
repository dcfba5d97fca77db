// The summary before a signature, and the open points that need a reason.

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
  /** A tick is only for what is good; null is neither. */
  good: boolean | null;
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
  /** Offered events whose best frame was displayed to this reader. */
  opened: readonly SieveEvent[];
  positions: ReadonlyMap<number, ArrayLike<number>>;
  hasTimes: boolean;
  /** Pre-reader decisions that were not displayed to this validator. */
  toValidate: readonly Spot[];
  withoutPicture: readonly Spot[];
  /** Frames to read that were not displayed to this reader. */
  notDisplayed: readonly Spot[];
}

export const WITHOUT_PICTURE = "frames-without-picture";
export const NOT_DISPLAYED = "pre-reader-decisions";

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

/** "3 of 13 frames to read displayed, 2 viewed." */
export const toReadWords = ({ to_read, to_read_displayed, to_read_viewed }: Reading["progress"]): string =>
  `${count(to_read_displayed)} of ${plural(to_read, "frame")} to read displayed, ${count(to_read_viewed)} viewed.`;

/** "23 % of all frames displayed (9 of 40)." */
export const displayedWords = ({ displayed, frames }: Reading["progress"]): string =>
  `${share(displayed, frames)} of all frames displayed (${count(displayed)} of ${count(frames)}).`;

/** The best frame of the first event that was not opened. */
const unopened = ({ offered, opened }: Facts): Link | null => {
  const event = offered.find((one) => !opened.includes(one));
  return event === undefined ? null : bestOf(event);
};

export function summaryLines(facts: Facts): Line[] {
  const { room, reading, events, offered, positions, notDisplayed } = facts;
  const { progress } = reading;
  const decided = offered.filter((event) => decisionOn(reading, event) !== null).length;
  const unsure = events.filter((event) => decisionOn(reading, event) === "unsure");
  const all = offered.length < events.length ? ` offered events, of ${count(events.length)} in all` : " events";
  const of = room.role === "consensus" ? " events on which the readers differ" : all;
  const bare = SEGMENTS.filter((segment) => typeof reading.cleanliness.segments[segment] !== "number");
  const { sum, words } = judge(reading.cleanliness.segments);
  const sizeless = reading.findings.find(({ content }) => content.size === null);
  const without = reading.findings.filter(({ content }) => content.size === null).length;
  const line = (words: string, good: boolean | null, link: Link | null = null): Line => ({ words, good, link });
  return [
    offered.length === 0 ? line("No event to decide.", true) : line(`${count(decided)} of ${count(offered.length)}${of} decided.`, decided === offered.length),
    ...(unsure[0] ? [line(`${plural(unsure.length, "event")} unsure.`, false, bestOf(unsure[0]))] : []),
    line(`${count(progress.opened)} of ${plural(progress.offered, "offered event")} opened.`, progress.opened >= progress.offered, unopened(facts)),
    line(toReadWords(progress), progress.to_read_displayed >= progress.to_read, notDisplayed[0] ?? null),
    line(displayedWords(progress), progress.displayed >= progress.frames),
    sizeless
      ? line(`${plural(reading.findings.length, "finding")}, ${count(without)} without a size.`, false, sizeless.content.best)
      : line(`${plural(reading.findings.length, "finding")}.`, reading.findings.length > 0 || null),
    bare.length > 0
      ? line(`No grade of cleanliness: ${bare.map((segment) => SEGMENT_WORDS[segment]).join(", ")}.`, false, "Exam")
      : line(`Cleanliness: ${sum} of 9, ${words}.`, words !== "inadequate", "Exam"),
    ...landmarkProblems(reading, positions).map((problem) => line(problem, false, "Exam")),
    ...reading.problems.map((problem) => line(problem, false, "Exam")),
  ];
}
