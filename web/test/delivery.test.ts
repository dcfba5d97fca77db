import assert from "node:assert/strict";
import test from "node:test";
import { Refused, Unreached } from "../src/api/client.ts";
import { LOG_IN, makeDelivery, OPEN_LINK } from "../src/saving/delivery.ts";
import type { Item } from "../src/saving/outbox.ts";
import type { Owner } from "../src/saving/owner.ts";

const ANNA: Owner = { room: "r1", reader: "anna", role: "reader" };
const PARCEL: Item = { ...ANNA, order: "0", exam: "e", kind: "action", body: { key: "k", ...ANNA, screening: "s1" } };

/** A server that answers a item with an error, or takes it. */
function setting(answer: () => Error | null, { login = true, here = async () => ANNA, screening = async () => "s1" } = {}) {
  let asked = 0;
  let sent = 0;
  const delivery = makeDelivery<number>({
    owner: ANNA,
    login,
    deliver: async () => {
      sent++;
      const error = answer();
      if (error !== null) throw error;
      return 1;
    },
    here: () => {
      asked++;
      return here();
    },
    screening,
  });
  return { delivery, asked: () => asked, sent: () => sent };
}

const status = (number: number) => () => new Refused(number, "A sentence.");

for (const number of [403, 409, 422]) {
  test(`${number} is a refusal, with the server's sentence`, async () => {
    const { delivery } = setting(status(number));
    assert.deepEqual(await delivery.send(PARCEL), { outcome: "refused", sentence: "A sentence.", outdated: false });
  });
}

for (const number of [400, 404, 405, 408, 410, 413, 425, 429, 500, 502, 503, 507]) {
  test(`${number} is tried again, and is the trouble of this exam alone`, async () => {
    const { delivery } = setting(status(number));
    assert.deepEqual(await delivery.send(PARCEL), { outcome: "later", sentence: "A sentence", alone: true });
  });
}

test("no answer, and an answer that is none, are tried again", async () => {
  for (const error of [new Unreached("The server does not answer."), new SyntaxError("not JSON")]) {
    const result = await setting(() => error).delivery.send(PARCEL);
    assert.equal(result.outcome, "later");
  }
});

test("a lost session drops nothing, and says how to come back", async () => {
  for (const [login, sentence] of [[true, LOG_IN], [false, OPEN_LINK]] as const) {
    const { delivery } = setting(status(401), { login });
    assert.deepEqual(await delivery.send(PARCEL), { outcome: "later", sentence, alone: false });
  }
});

test("after an interruption nothing is sent before it is known who is here, and where", async () => {
  const strangers: [Partial<Owner>, RegExp][] = [
    [{ reader: "bert" }, /bert is logged in here now, and anna decided/],
    [{ role: "consensus" }, /consensus.*reader/],
    [{ room: "r2" }, /another room/],
  ];
  for (const [stranger, words] of strangers) {
    const { delivery, sent } = setting(() => null, { here: async () => ({ ...ANNA, ...stranger }) });
    delivery.doubt();
    const result = await delivery.send(PARCEL);
    assert.ok(result.outcome === "later" && words.test(result.sentence));
    assert.equal(sent(), 0);
  }
  const { delivery, asked } = setting(() => null);
  delivery.doubt();
  assert.equal((await delivery.send(PARCEL)).outcome, "taken");
  assert.equal((await delivery.send(PARCEL)).outcome, "taken");
  assert.equal(asked(), 1);
});

test("a refusal to say who is here is no refusal of the item", async () => {
  const { delivery } = setting(() => null, { here: async () => Promise.reject(new Refused(403, "No.")) });
  delivery.doubt();
  assert.equal((await delivery.send(PARCEL)).outcome, "later");
});

test("a conflict with an exam that was screened again is named as such", async () => {
  const again = setting(status(409), { screening: async () => "s2" });
  assert.deepEqual(await again.delivery.send(PARCEL), { outcome: "refused", sentence: "A sentence.", outdated: true });
  const unknown = setting(status(409), { screening: async () => Promise.reject(new Unreached("")) });
  assert.deepEqual(await unknown.delivery.send(PARCEL), { outcome: "refused", sentence: "A sentence.", outdated: false });
  const forbidden = setting(status(403), { screening: async () => "s2" });
  assert.deepEqual(await forbidden.delivery.send(PARCEL), { outcome: "refused", sentence: "A sentence.", outdated: false });
});
