import assert from "node:assert/strict";
import test from "node:test";
import { parseColumns } from "../src/api/columns.ts";

const padded = (data: Buffer): Buffer => Buffer.concat([data, Buffer.alloc((8 - (data.length % 8)) % 8)]);

function table(): ArrayBuffer {
  const columns: [string, string, Buffer, number][] = [
    ["time_s", "float64", Buffer.from(new Float64Array([0.5, NaN, 1.5]).buffer), 3],
    ["score", "float32", Buffer.from(new Float32Array([10, NaN, 40]).buffer), 3],
    ["flagged", "uint8", Buffer.from([0, 0, 1]), 3],
    ["reason", "uint8", Buffer.from([1, 0, 2]), 3],
    ["event", "int32", Buffer.from(new Int32Array([-1, -1, 5]).buffer), 3],
    ["duplicate_of", "int32", Buffer.from(new Int32Array([-1, 0, -1]).buffer), 3],
    ["rgb", "uint8", Buffer.from([1, 2, 3, 4, 5, 6, 7, 8, 9]), 9],
    ["status", "uint8", Buffer.from([0, 1, 0]), 3],
  ];
  const header = Buffer.from(
    JSON.stringify({
      frames: 3,
      reasons: ["", "score-low", "polyp"],
      columns: columns.map(([name, type, , length]) => ({ name, type, length })),
    }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  const whole = Buffer.concat([padded(Buffer.concat([length, header])), ...columns.map(([, , data]) => padded(data))]);
  return whole.buffer.slice(whole.byteOffset, whole.byteOffset + whole.length) as ArrayBuffer;
}

test("every column is found behind its padding", () => {
  const read = parseColumns(table());
  assert.equal(read.frames, 3);
  assert.deepEqual([...read.time_s], [0.5, NaN, 1.5]);
  assert.deepEqual([...read.score], [10, NaN, 40]);
  assert.deepEqual([...read.flagged], [0, 0, 1]);
  assert.deepEqual([...read.event], [-1, -1, 5]);
  assert.deepEqual([...read.duplicate_of], [-1, 0, -1]);
  assert.deepEqual([...read.rgb], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual([...read.status], [0, 1, 0]);
  assert.equal(read.reasons[read.reason[2] as number], "polyp");
});

test("a table that was cut off is refused", () => assert.throws(() => parseColumns(table().slice(0, -16)), /cut off/));
