import assert from "node:assert/strict";
import test from "node:test";
import { refusedLines, refusedWords } from "../src/model/refused.ts";
import type { Content } from "../src/api/types.ts";
import { actionWords, entryWords } from "../src/model/entries.ts";
import { readerWords } from "../src/model/words.ts";
import type { Item } from "../src/saving/outbox.ts";

const refused = (kind: Item["kind"], exam: string, body: object) => ({
  item: { order: "", room: "", reader: "", role: "", exam, kind, body: { key: "", ...body } } as Item,
  refusal: { sentence: "It is signed.", outdated: false },
});
const REJECT: Content = { kind: "decision", subject: "event:0:12", decision: "reject", frame: 12, finding: null };
const REMOVED: Content = { kind: "removed", of: "finding", subject: "finding:e1-3" };

test("an entry in a few words", () => {
  assert.equal(entryWords(REJECT), "decision, event with frame 12 of head 0: rejected");
  assert.equal(entryWords({ kind: "note", subject: "exam", text: "look" }), "note: “look”");
  assert.equal(entryWords(REMOVED), "finding, event with frame 3 of head 1: removed");
  assert.equal(entryWords({ kind: "landmark", subject: "landmark:caecum", head: 0, frame: 5 }), "landmark, caecum: frame 5");
  assert.equal(entryWords({ kind: "cleanliness", subject: "segment:left", grade: 2 }), "cleanliness, left: grade 2");
  assert.equal(entryWords({ kind: "undo", action: 3 }), "undo");
  assert.equal(actionWords([REMOVED, REJECT]), entryWords(REJECT));
});

test("every refused action has a line, displayed frames one for an exam", () => {
  const action = { entries: [REMOVED, REJECT] };
  const all = [refused("viewed", "a", {}), refused("action", "a", action), refused("viewed", "a", {}), refused("action", "a", action), refused("viewed", "b", {})];
  assert.deepEqual(refusedLines(all).map(({ exam, what }) => `${exam}: ${what}`), [
    "a: displayed frames",
    `a: ${entryWords(REJECT)}`,
    `a: ${entryWords(REJECT)}`,
    "b: displayed frames",
  ]);
  assert.equal(refusedWords(all), "2 actions not taken");
  assert.equal(refusedWords(all.slice(0, 1)), "displayed frames were not taken");
});

test("who reads blind is another reader", () => {
  assert.equal(readerWords(""), "another reader");
  assert.equal(readerWords("bert"), "bert");
});
