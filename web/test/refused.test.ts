import assert from "node:assert/strict";
import test from "node:test";
import { refusedLines, refusedWords } from "../src/exam/refused.ts";
import { entryWords } from "../src/model/telling.ts";
import { readerWords } from "../src/model/words.ts";
import type { Parcel } from "../src/saving/outbox.ts";

const refused = (kind: Parcel["kind"], exam: string, body: object) => ({
  parcel: { order: "", room: "", reader: "", role: "", exam, kind, body: { key: "", ...body } } as Parcel,
  refusal: { sentence: "It is signed.", outdated: false },
});
const VERDICT = { kind: "verdict", subject: "event:0:12-40", content: { verdict: "accept" } };

test("an entry in a few words", () => {
  assert.equal(entryWords(VERDICT), "verdict, frames 12 to 40 of head 0: accepted");
  assert.equal(entryWords({ kind: "note", subject: "exam", content: { text: "look" } }), "note: “look”");
  assert.equal(entryWords({ kind: "finding", subject: "finding:e1-3-9", content: { removed: true } }), "finding, frames 3 to 9 of head 1: removed");
  assert.equal(entryWords({ kind: "finding", subject: "finding:0a1b", content: { best_frame: 7 } }), "finding: frame 7");
  assert.equal(entryWords({ kind: "landmark", subject: "landmark:caecum", content: { head: 0, frame: 5 } }), "landmark, caecum: frame 5");
  assert.equal(entryWords({ kind: "cleanliness", subject: "segment:left", content: { grade: 2 } }), "cleanliness, left: grade 2");
  assert.equal(entryWords({ kind: "undo", subject: "", content: {} }), "undo");
});

test("every refused action has a line, batches of frames seen one for an exam", () => {
  const all = [refused("seen", "a", {}), refused("entry", "a", VERDICT), refused("seen", "a", {}), refused("entry", "a", VERDICT), refused("seen", "b", {})];
  assert.deepEqual(refusedLines(all).map(({ exam, what }) => `${exam}: ${what}`), [
    "a: what was seen",
    "a: verdict, frames 12 to 40 of head 0: accepted",
    "a: verdict, frames 12 to 40 of head 0: accepted",
    "b: what was seen",
  ]);
  assert.equal(refusedWords(all), "2 actions not taken");
  assert.equal(refusedWords(all.slice(0, 1)), "what was seen was not taken");
});

test("who reads blind is another reader", () => {
  assert.equal(readerWords(""), "another reader");
  assert.equal(readerWords("bert"), "bert");
});
