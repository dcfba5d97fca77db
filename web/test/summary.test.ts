import assert from "node:assert/strict";
import { test } from "node:test";

import type { Difference, FindingContent, Reading, SieveEvent } from "../src/api/types.ts";
import { decidedOn, toDecide } from "../src/model/differences.ts";
import { landmarkProblems, segmentProblem, transit } from "../src/model/landmarks.ts";
import { openPoints, summaryLines, type Facts } from "../src/model/summary.ts";
import { makeDrafts, type Store } from "../src/saving/drafts.ts";

const event = (place: number, best: number, first = best, last = best): SieveEvent =>
  ({ event: place, head: 0, first_frame: first, last_frame: last, best_frame: best }) as SieveEvent;
const EVENTS = [event(1, 10, 5, 20), event(2, 40)];
const SECONDS = new Map([[0, Array.from({ length: 100 }, (_, frame) => frame)]]);

const PROGRESS = { events: 2, offered: 2, opened: 1, decided: 0, to_read: 4, to_read_displayed: 3, to_read_viewed: 2, frames: 100, displayed: 50, viewed: 40, without_picture: 0 };

function reading(decisions: Record<string, string>, change: Partial<Reading> = {}): Reading {
  const entries = Object.entries(decisions).map(([subject, decision]) => [subject, { content: { kind: "decision", subject, decision, finding: null } }]);
  const rest = { findings: [], landmarks: {}, cleanliness: { segments: {} }, problems: [], progress: PROGRESS };
  return { ...rest, decisions: Object.fromEntries(entries), ...change } as unknown as Reading;
}

const facts = (change: Partial<Facts>): Facts => ({
  ...{ room: { role: "reader" } as Facts["room"], reading: reading({}), events: EVENTS, offered: EVENTS, positions: SECONDS },
  ...{ hasTimes: true, toValidate: [], withoutPicture: [], opened: [], notDisplayed: [], ...change },
});
const landmarks = (frames: Record<string, number>): Partial<Reading> =>
  ({ landmarks: Object.fromEntries(Object.entries(frames).map(([name, frame]) => [name, { content: { head: 0, frame } }])) }) as Partial<Reading>;
const finding = (subject: string, first: number, last: number, segment: string | null = null): { content: FindingContent } =>
  ({ content: { subject, spans: [{ head: 0, first, last }], best: { head: 0, frame: first }, segment, size: null } }) as unknown as { content: FindingContent };

test("every offered event without a decision needs a reason, as frames without a picture do", () => {
  const open = openPoints(facts({ reading: reading({ "event:0:10": "reject" }), withoutPicture: [{ head: 0, frame: 7 }], toValidate: [{ head: 0, frame: 8 }] }));
  assert.deepEqual(open.map(({ key }) => key), ["event:0:40", "frames-without-picture", "pre-reader-decisions"]);
  assert.deepEqual(open.map(({ link }) => link), [{ head: 0, frame: 40 }, { head: 0, frame: 7 }, { head: 0, frame: 8 }]);
  assert.deepEqual(openPoints(facts({ offered: EVENTS.slice(0, 1), reading: reading({ "event:0:10": "unsure" }) })), []);
});

test("a tick is only for what is good", () => {
  const ticks = (change: Partial<Facts>): string[] => summaryLines(facts(change)).filter(({ good }) => good).map(({ words }) => words);
  assert.deepEqual(ticks({ notDisplayed: [{ head: 0, frame: 3 }] }), []);
  const good = reading({ "event:0:10": "reject", "event:0:40": "accept" }, {
    cleanliness: { segments: { right: 2, transverse: 3, left: 3 } },
    progress: { ...PROGRESS, opened: 2, decided: 2, to_read_displayed: 4, displayed: 100 },
  } as unknown as Partial<Reading>);
  assert.equal(summaryLines(facts({ reading: good })).some(({ good }) => good === false), false);
});

test("landmarks out of order and a segment that contradicts one are named", () => {
  const marked = reading({}, landmarks({ "first-colon": 10, caecum: 30, "hepatic-flexure": 20, "last-colon": 90 }));
  assert.deepEqual(landmarkProblems(marked, SECONDS), ["The hepatic flexure is marked before the caecum."]);
  assert.equal(transit(marked, SECONDS), "0:01:20");
  assert.match(segmentProblem(finding("a", 15, 15, "transverse").content, marked, SECONDS) ?? "", /before the hepatic flexure/);
  assert.match(segmentProblem(finding("a", 25, 25, "ascending").content, marked, SECONDS) ?? "", /after the hepatic flexure/);
  assert.equal(segmentProblem(finding("a", 15, 15, "ascending").content, marked, SECONDS), null);
});

test("a missed polyp inside an event on which the readers differ is a difference of its own", () => {
  const difference = (subject: string, first: number, last: number): Difference => ({ subject, a: "x", b: "y", head: 0, first, last });
  const all = [difference("finding:abc", 12, 12), difference("event:0:10", 5, 20), difference("finding:e0-10", 5, 20)];
  const readings = [reading({ "event:0:10": "accept" }), reading({ "event:0:10": "reject" })];
  const found = toDecide(all, readings, EVENTS, SECONDS);
  assert.deepEqual(found.map(({ subject }) => subject), ["event:0:10", "finding:abc", "event:0:40"]);
  const consensus = reading({ "event:0:10": "accept" }, { findings: [finding("finding:new", 30, 30)] } as unknown as Partial<Reading>);
  assert.deepEqual(found.map((one) => decidedOn(consensus, one)), ["accept", null, null]);
});

test("drafts are of one reader, role and server, and end when the text is empty", () => {
  const items = new Map<string, string>();
  const store = {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, text: string) => void items.set(name, text),
    removeItem: (name: string) => void items.delete(name),
    key: (i: number) => [...items.keys()][i] ?? null,
    get length() {
      return items.size;
    },
  } as Store;
  const anna = { room: "r", reader: "an/na", role: "reader" };
  makeDrafts(anna, store).keep("exam 1", "finding:e0-10", "round");
  const again = makeDrafts(anna, store);
  assert.deepEqual(again.all.value, [{ exam: "exam 1", field: "finding:e0-10", text: "round" }]);
  for (const other of [{ reader: "bert" }, { role: "consensus" }, { room: "s" }]) assert.deepEqual(makeDrafts({ ...anna, ...other }, store).all.value, []);
  again.keep("exam 1", "finding:e0-10", " ");
  assert.equal(items.size, 0);
});
