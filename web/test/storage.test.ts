import assert from "node:assert/strict";
import test from "node:test";
import type { Owner } from "../src/saving/owner.ts";
import { storeName, storePart } from "../src/saving/storage.ts";

/** As localStorage, as far as a store uses it. */
function storage(): Storage {
  const kept = new Map<string, string>();
  return {
    get length() {
      return kept.size;
    },
    key: (i: number) => [...kept.keys()][i] ?? null,
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => void kept.set(name, text),
    removeItem: (name: string) => void kept.delete(name),
    clear: () => kept.clear(),
  };
}

const PARTS = ["", "a", "a.b", "a/b", "a%2Fb", "a/", "/", "%", "b", "a b", "ä", "..", "a/b/c"];

test("no store is part of another, whatever rooms, readers and roles are called", () => {
  const owners: Owner[] = PARTS.flatMap((room) => PARTS.flatMap((reader) => ["reader", "a", "a/b"].map((role) => ({ room, reader, role }))));
  const names = owners.map((owner) => storeName("outbox", owner));
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.equal(names.filter((other) => other.startsWith(name)).length, 1);
});

test("each reader finds their own items alone", () => {
  const place = storage();
  const owners: Owner[] = [
    { room: "r1", reader: "anna", role: "reader" },
    { room: "r2", reader: "anna", role: "reader" },
    { room: "r1", reader: "anna", role: "consensus" },
    { room: "r1", reader: "anna.smith", role: "reader" },
    { room: "r1", reader: "anna/reader", role: "reader" },
    { room: "r1", reader: "100%", role: "reader" },
  ];
  owners.forEach((owner, i) => storePart("outbox", owner, place).put(`item.${i}`, String(i)));
  owners.forEach((owner, i) => {
    const store = storePart("outbox", owner, place);
    assert.deepEqual(store.names(), [`item.${i}`]);
    assert.equal(store.get(`item.${i}`), String(i));
  });
  storePart("outbox", owners[0] as Owner, place).drop("item.0");
  assert.equal(place.length, owners.length - 1);
});

test("other items of the storage are left alone", () => {
  const place = storage();
  place.setItem("capsieve.outbox.anna.0001", "kept");
  const store = storePart("outbox", { room: "", reader: "anna", role: "reader" }, place);
  assert.deepEqual(store.names(), []);
  assert.equal(place.getItem("capsieve.outbox.anna.0001"), "kept");
});
