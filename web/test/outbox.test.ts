import assert from "node:assert/strict";
import test from "node:test";
import { makeOutbox, type Outcome, type Item } from "../src/saving/outbox.ts";
import type { Store } from "../src/saving/storage.ts";

const ANNA = { room: "r1", reader: "anna", role: "reader" };

function store(kept = new Map<string, string>()): Store & { kept: Map<string, string> } {
  return {
    kept,
    names: () => [...kept.keys()],
    get: (name) => kept.get(name) ?? null,
    put: (name, text) => void kept.set(name, text),
    drop: (name) => void kept.delete(name),
  };
}

/** A server that answers as told, and an outbox whose pauses end when asked. */
function setting(answers: (item: Item) => Outcome<number>, on = store(), owner = ANNA) {
  const sent: string[] = [];
  const done: string[] = [];
  const pauses: (() => void)[] = [];
  let time = 0;
  const outbox = makeOutbox<number>({
    owner,
    store: on,
    send: async (item) => {
      sent.push(item.body.key);
      return answers(item);
    },
    number: (answer) => (answer > 0 ? answer : null),
    done: (item) => void done.push(item.body.key),
    wait: (_, then) => {
      pauses.push(then);
      return () => {};
    },
    now: () => time++,
  });
  return { outbox, sent, done, pauses, kept: on.kept };
}

const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const ok = (): Outcome<number> => ({ outcome: "taken", answer: 1 });
const later = (): Outcome<number> => ({ outcome: "later", sentence: "The server does not answer." });
const no = (): Outcome<number> => ({ outcome: "refused", sentence: "This exam is signed.", outdated: false });

test("actions are sent in their order and then forgotten", async () => {
  const { outbox, sent, kept } = setting(ok);
  for (const key of ["a", "b", "c"]) outbox.add("exam", "action", { key });
  assert.equal(kept.size, 3);
  await outbox.empty();
  assert.deepEqual(sent, ["a", "b", "c"]);
  assert.equal(kept.size, 0);
  assert.equal(outbox.status.value.waiting, 0);
});

test("an action stays until it is acknowledged, and goes out again with the same key", async () => {
  let up = false;
  const { outbox, sent, done, pauses, kept } = setting(() => (up ? ok() : later()));
  outbox.add("exam", "action", { key: "a" });
  outbox.add("exam", "action", { key: "b" });
  await rest();
  assert.deepEqual(sent, ["a"]);
  assert.deepEqual([outbox.status.value.connected, outbox.status.value.waiting, kept.size], [false, 2, 2]);
  up = true;
  pauses.at(-1)?.();
  await outbox.empty();
  assert.deepEqual(sent, ["a", "a", "b"]);
  assert.deepEqual(done, ["a", "b"]);
  assert.ok(outbox.status.value.connected);
});

test("what a browser that died left behind is sent by the next one", async () => {
  const first = setting(later);
  first.outbox.add("exam", "action", { key: "a" });
  first.outbox.add("exam", "action", { key: "b" });
  await rest();
  const second = setting(ok, store(first.kept));
  assert.equal(second.outbox.waiting("exam").length, 2);
  await second.outbox.empty();
  assert.deepEqual(second.sent, ["a", "b"]);
  assert.equal(first.kept.size, 0);
});

test("what the server will not take is shown, and does not block the rest", async () => {
  const { outbox, sent, done } = setting((item) => (item.body.key === "a" ? no() : ok()));
  outbox.add("exam", "action", { key: "a" });
  outbox.add("exam", "action", { key: "b" });
  await outbox.empty();
  assert.deepEqual(sent, ["a", "b"]);
  assert.equal(outbox.status.value.refused[0]?.refusal.sentence, "This exam is signed.");
  assert.deepEqual(done, ["a", "b"], "the page has to look again, since it shows what was refused");
});

test("what was refused is told again after a reload, is not sent again, and goes when it was read", async () => {
  const first = setting(no);
  first.outbox.add("exam", "action", { key: "a" });
  first.outbox.add("exam", "viewed", { key: "s" });
  await first.outbox.empty();
  const second = setting(ok, store(first.kept));
  await rest();
  assert.deepEqual(second.sent, []);
  assert.deepEqual(second.outbox.waiting("exam"), []);
  const told = second.outbox.status.value.refused;
  assert.deepEqual(told.map(({ item, refusal }) => [item.body.key, refusal.sentence]), [["a", "This exam is signed."], ["s", "This exam is signed."]]);
  second.outbox.forget("a");
  assert.deepEqual(setting(ok, store(first.kept)).outbox.status.value.refused.map(({ item }) => item.body.key), ["s"]);
});

test("nothing is sent for another room, reader or role, and nothing of theirs is dropped", async () => {
  const first = setting(later);
  first.outbox.add("exam", "action", { key: "a" });
  await rest();
  for (const other of [{ room: "r2" }, { reader: "anna.smith" }, { role: "consensus" }]) {
    const second = setting(ok, store(first.kept), { ...ANNA, ...other });
    await rest();
    assert.deepEqual(second.sent, []);
    assert.equal(second.outbox.status.value.waiting, 0);
  }
  assert.equal(first.kept.size, 1);
});

test("an exam that is in trouble keeps its order, and holds up no other", async () => {
  let there = false;
  const { outbox, sent, pauses } = setting(({ exam }) => (exam === "gone" && !there ? { outcome: "later", sentence: "There is no exam gone", alone: true } : ok()));
  outbox.add("gone", "action", { key: "a" });
  outbox.add("gone", "action", { key: "b" });
  outbox.add("exam", "action", { key: "c" });
  await outbox.empty("exam");
  await rest();
  assert.ok(!sent.includes("b"));
  assert.deepEqual([outbox.holds("exam"), outbox.holds("gone")], [false, true]);
  const { connected, sentence, waiting } = outbox.status.value;
  assert.deepEqual([connected, sentence, waiting], [false, "There is no exam gone", 2], "a success elsewhere does not hide it");
  there = true;
  pauses.at(-1)?.();
  await outbox.empty();
  assert.deepEqual(sent.slice(-2), ["a", "b"]);
  assert.ok(outbox.status.value.connected);
});

test("the ledger's items wait too, but are no actions", async () => {
  const { outbox } = setting(later);
  outbox.add("exam", "viewed", { key: "s" });
  outbox.add("exam", "action", { key: "a" });
  await rest();
  assert.equal(outbox.status.value.waiting, 1);
  assert.deepEqual(outbox.waiting("exam").map((item) => item.body.key), ["a"]);
  assert.equal(outbox.waiting("other").length, 0);
});

test("a half-written item is dropped and the others are sent", async () => {
  const kept = new Map([["0", '{"order": "0", "exa']]);
  const { outbox, sent } = setting(ok, store(kept));
  outbox.add("exam", "action", { key: "a" });
  await outbox.empty();
  assert.deepEqual(sent, ["a"]);
});

test("what the server has is told until the page knows of its entry", async () => {
  let entry = 0;
  const { outbox } = setting(() => ({ outcome: "taken", answer: ++entry }));
  outbox.add("a", "action", { key: "one" });
  outbox.add("b", "action", { key: "two" });
  outbox.add("a", "action", { key: "three" });
  await outbox.empty();
  const keys = (after: number): string[] => outbox.taken("a", after).map(({ body }) => body.key);
  assert.deepEqual(outbox.waiting("a"), []);
  assert.deepEqual(keys(0), ["one", "three"]);
  assert.deepEqual(keys(1), ["three"], "an answer from before the third entry does not take it back");
  assert.deepEqual(keys(3), []);
  assert.deepEqual(outbox.taken("b", 0).length, 1, "another exam's are its own");
});

test("what becomes no entry, or is refused, is not told as one", async () => {
  const { outbox } = setting(({ body }) =>
    body.key === "viewed" ? { outcome: "taken", answer: 0 } : { outcome: "refused", sentence: "No.", outdated: false },
  );
  outbox.add("a", "viewed", { key: "viewed" });
  outbox.add("a", "action", { key: "no" });
  await outbox.empty();
  assert.deepEqual(outbox.taken("a", 0), []);
});
