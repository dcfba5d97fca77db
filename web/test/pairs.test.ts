import assert from "node:assert/strict";
import test from "node:test";
import type { Action, Entry, Reading, SieveEvent } from "../src/api/types.ts";
import { partnerOf } from "../src/model/pairs.ts";
import { withAction } from "../src/model/reading.ts";
import { eventSubject, findingIdOf, findingSubject } from "../src/model/subjects.ts";

const EVENT = { event: 1, head: 0, first_frame: 12, last_frame: 40, best_frame: 20 } as SieveEvent;
const ID = findingIdOf(EVENT);

let log: Entry[] = [];
const write = (kind: Action["kind"], subject: string, content: Record<string, unknown>, undoes: number | null = null): Entry => {
  const entry: Entry = { key: "", kind, subject, content, undoes, number: log.length + 1, exam: "e", version: 1, reader: "anna", role: "reader", time: "" };
  log.push(entry);
  return entry;
};
const describe = (more: object = {}): Entry => write("finding", findingSubject(ID), { frames: [19, 20], best_frame: 20, ...more });
const remove = (): Entry => write("finding", findingSubject(ID), { removed: true });
const say = (verdict: string | null): Entry =>
  write("verdict", eventSubject(EVENT), { verdict, best_frame: 20, finding: verdict === "accept" ? ID : null });
const undo = (number: number): Entry => write("undo", "", {}, number);

test.beforeEach(() => void (log = []));

test("the finding of an event is named after it, as the server allows", () => {
  assert.equal(ID, "e0-12-40");
  assert.match(ID, /^[A-Za-z0-9_-]{1,64}$/);
});

test("accepting twice, in two windows, is one finding", () => {
  let reading = { findings: [], verdicts: {}, state: "unread" } as unknown as Reading;
  for (const entry of [describe(), say("accept"), describe(), say("accept")]) reading = withAction(reading, entry, entry);
  assert.deepEqual(reading.findings.map(({ id }) => id), [ID]);
});

test("accept, take back, accept again: each verdict goes with its own entry of the finding", () => {
  const made = describe();
  const accepted = say("accept");
  const gone = remove();
  const back = say(null);
  const again = describe();
  const accepted2 = say("accept");
  assert.equal(partnerOf(log, accepted), made);
  assert.equal(partnerOf(log, back), gone);
  assert.equal(partnerOf(log, accepted2), again);
});

test("accept, undo, accept again: the second one has its partner too", () => {
  describe();
  say("accept");
  undo(2);
  undo(1);
  const again = describe();
  const accepted = say("accept");
  assert.equal(partnerOf(log, accepted), again);
});

test("a finding that was there before is no part of the verdict", () => {
  describe();
  say("accept");
  describe({ size: "small" });
  assert.equal(partnerOf(log, say("accept")), null);
});

test("removing another finding is no part of a verdict", () => {
  write("finding", "finding:other", { frames: [90], best_frame: 90 });
  write("finding", "finding:other", { removed: true });
  assert.equal(partnerOf(log, say("reject")), null);
});
