import assert from "node:assert/strict";
import test from "node:test";
import { makeOutbox, type Outcome, type Parcel, type Shelf } from "../src/saving/outbox.ts";

function shelf(kept = new Map<string, string>()): Shelf & { kept: Map<string, string> } {
  return {
    kept,
    names: () => [...kept.keys()],
    get: (name) => kept.get(name) ?? null,
    put: (name, text) => void kept.set(name, text),
    drop: (name) => void kept.delete(name),
  };
}

/** A server that answers as told, and an outbox whose pauses end when asked. */
function setting(answers: (parcel: Parcel) => Outcome<number>, on = shelf()) {
  const sent: string[] = [];
  const taken: string[] = [];
  const pauses: (() => void)[] = [];
  let time = 0;
  const outbox = makeOutbox<number>({
    shelf: on,
    send: async (parcel) => {
      sent.push(parcel.body.key);
      return answers(parcel);
    },
    taken: (parcel) => void taken.push(parcel.body.key),
    wait: (_, then) => {
      pauses.push(then);
      return () => {};
    },
    now: () => time++,
  });
  return { outbox, sent, taken, pauses, kept: on.kept };
}

const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const ok = (): Outcome<number> => ({ outcome: "taken", answer: 1 });
const later = (): Outcome<number> => ({ outcome: "later", sentence: "The server does not answer." });

test("actions are sent in their order and then forgotten", async () => {
  const { outbox, sent, kept } = setting(ok);
  for (const key of ["a", "b", "c"]) outbox.add("exam", "entry", { key });
  assert.equal(kept.size, 3);
  await outbox.empty();
  assert.deepEqual(sent, ["a", "b", "c"]);
  assert.equal(kept.size, 0);
  assert.equal(outbox.status.get().waiting, 0);
});

test("an action stays until it is acknowledged, and goes out again with the same key", async () => {
  let up = false;
  const { outbox, sent, taken, pauses, kept } = setting(() => (up ? ok() : later()));
  outbox.add("exam", "entry", { key: "a" });
  outbox.add("exam", "entry", { key: "b" });
  await rest();
  assert.deepEqual(sent, ["a"]);
  assert.deepEqual([outbox.status.get().connected, outbox.status.get().waiting, kept.size], [false, 2, 2]);
  up = true;
  pauses.at(-1)?.();
  await outbox.empty();
  assert.deepEqual(sent, ["a", "a", "b"]);
  assert.deepEqual(taken, ["a", "b"]);
  assert.ok(outbox.status.get().connected);
});

test("what a browser that died left behind is sent by the next one", async () => {
  const first = setting(later);
  first.outbox.add("exam", "entry", { key: "a" });
  first.outbox.add("exam", "entry", { key: "b" });
  await rest();
  const second = setting(ok, shelf(first.kept));
  assert.equal(second.outbox.waiting("exam").length, 2);
  await second.outbox.empty();
  assert.deepEqual(second.sent, ["a", "b"]);
  assert.equal(first.kept.size, 0);
});

test("what the server will not take is shown, and does not block the rest", async () => {
  const { outbox, sent } = setting((parcel) =>
    parcel.body.key === "a" ? { outcome: "refused", sentence: "This exam is signed." } : ok(),
  );
  outbox.add("exam", "entry", { key: "a" });
  outbox.add("exam", "entry", { key: "b" });
  await outbox.empty();
  assert.deepEqual(sent, ["a", "b"]);
  assert.equal(outbox.status.get().refused[0]?.sentence, "This exam is signed.");
  outbox.forget("a");
  assert.equal(outbox.status.get().refused.length, 0);
});

test("the ledger's parcels wait too, but are no actions", async () => {
  const { outbox } = setting(later);
  outbox.add("exam", "seen", { key: "s" });
  outbox.add("exam", "entry", { key: "a" });
  await rest();
  assert.equal(outbox.status.get().waiting, 1);
  assert.deepEqual(outbox.waiting("exam").map((parcel) => parcel.body.key), ["a"]);
  assert.equal(outbox.waiting("other").length, 0);
});

test("a half-written item is dropped and the others are sent", async () => {
  const kept = new Map([["0", '{"order": "0", "exa']]);
  const { outbox, sent } = setting(ok, shelf(kept));
  outbox.add("exam", "entry", { key: "a" });
  await outbox.empty();
  assert.deepEqual(sent, ["a"]);
});
