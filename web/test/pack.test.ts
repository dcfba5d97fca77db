import assert from "node:assert/strict";
import test from "node:test";
import { parsePack } from "../src/api/pack.ts";

function pack(...pictures: [number, number, number[]][]): ArrayBuffer {
  const parts = pictures.flatMap(([number, kind, bytes]) => {
    const header = Buffer.alloc(12);
    header.writeUInt32LE(number, 0);
    header.writeUInt32LE(bytes.length, 4);
    header[8] = kind;
    return [header, Buffer.from(bytes)];
  });
  const whole = Buffer.concat(parts);
  return whole.buffer.slice(whole.byteOffset, whole.byteOffset + whole.length) as ArrayBuffer;
}

test("pictures keep their numbers, kinds and bytes", () => {
  const [one, two, three] = parsePack(pack([7, 1, [1, 2, 3]], [70000, 2, [9]], [8, 0, []]));
  assert.deepEqual([one?.number, one?.type, [...(one?.bytes ?? [])]], [7, "image/jpeg", [1, 2, 3]]);
  assert.deepEqual([two?.number, two?.type, [...(two?.bytes ?? [])]], [70000, "image/png", [9]]);
  assert.deepEqual([three?.number, three?.type, three?.bytes.length], [8, "", 0]);
});

test("an empty pack holds nothing", () => assert.deepEqual(parsePack(new ArrayBuffer(0)), []));

test("bytes do not keep the pack alive", () => {
  const [one] = parsePack(pack([1, 1, [5, 6]], [2, 1, [7]]));
  assert.equal(one?.bytes.buffer.byteLength, 2);
});

test("a pack that was cut off is refused", () => {
  const whole = pack([1, 1, [5, 6, 7, 8]]);
  assert.throws(() => parsePack(whole.slice(0, 14)), /cut off/);
  assert.throws(() => parsePack(whole.slice(0, 5)), /header/);
});

test("an unknown kind is refused", () => assert.throws(() => parsePack(pack([3, 9, [1]])), /Frame 3/));
