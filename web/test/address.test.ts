import assert from "node:assert/strict";
import test from "node:test";
import { examAddress, placeAddress, readAddress } from "../src/exam/address.ts";
import { WHOLE } from "../src/exam/frameview.ts";

test("an address gives back exam, head, frame, mode and zoom", () => {
  const places = [
    { head: 0, frame: 0, mode: "all" as const, zoom: WHOLE, both: true },
    { head: 1, frame: 49_999, mode: "to read" as const, zoom: { factor: 2.5, x: 0.25, y: -0.125 }, both: false },
  ];
  for (const exam of ["patient-1", "a b/c?d=e&f #1 ä"]) {
    for (const place of places) assert.deepEqual(readAddress(placeAddress(exam, place)), { exam, place });
    assert.deepEqual(readAddress(examAddress(exam)), { exam, place: null });
  }
});

test("what is no place in an address is left out", () => {
  for (const query of ["?", "?frame=3", "?head=0&frame=-1", "?head=x&frame=1", "?head=0&frame=1e3"]) {
    assert.deepEqual(readAddress(`#/exam/e${query}`), { exam: "e", place: null });
  }
  const place = readAddress("#/exam/e?head=0&frame=1&mode=none&zoom=99,0,0")?.place;
  assert.deepEqual(place, { head: 0, frame: 1, mode: "all", zoom: WHOLE, both: true });
  assert.equal(readAddress("#/"), null);
});
