// Frames for the mock, drawn by formula: a tunnel of folds with a bump now and then.

import { deflateSync, crc32 } from "node:zlib";

export const BUMPS: readonly (readonly [number, number])[] = [
  [140, 152],
  [420, 431],
  [640, 648],
  [905, 921],
  [1200, 1206],
  [1500, 1530],
];

export function bumpAt(frame: number, frames: number): number {
  const place = frame % Math.min(frames, 1800);
  return BUMPS.findIndex(([first, last]) => place >= first && place <= last);
}

/** RGB of one frame, `size` pixels wide and high. */
export function paint(frame: number, head: number, size: number, frames: number): Uint8Array {
  const pixels = new Uint8Array(3 * size * size);
  const bump = bumpAt(frame, frames);
  const murky = Math.sin(frame / 260 + head) > 0.72;
  for (let row = 0; row < size; row++) {
    for (let col = 0; col < size; col++) {
      const x = (2 * col) / size - 1;
      const y = (2 * row) / size - 1;
      const radius = Math.hypot(x, y);
      const at = 3 * (row * size + col);
      if (radius > 0.97) continue;
      const depth = Math.hypot(x - 0.2 * Math.sin(frame / 40), y - 0.15 * Math.cos(frame / 55));
      const folds = 0.5 + 0.5 * Math.sin(9 / (depth + 0.25) + frame / 6 + head + 0.6 * Math.sin(3 * Math.atan2(y, x)));
      let light = 0.18 + 0.55 * Math.min(depth * 1.3, 1) * (0.75 + 0.25 * folds);
      if (bump >= 0) {
        const d = Math.hypot(x - 0.35 + 0.01 * (frame % 20), y - 0.2) / 0.24;
        if (d < 1) light = 0.55 + 0.4 * Math.sqrt(1 - d * d);
      }
      const green = murky ? 0.72 : 0.55 + 0.06 * folds;
      pixels[at] = 255 * Math.min(light * 1.15, 1);
      pixels[at + 1] = 255 * light * green;
      pixels[at + 2] = 255 * light * (murky ? 0.3 : 0.38);
    }
  }
  return pixels;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

export function png(pixels: Uint8Array, size: number): Buffer {
  const rows = Buffer.alloc(size * (3 * size + 1));
  for (let row = 0; row < size; row++) {
    Buffer.from(pixels.buffer, 3 * size * row, 3 * size).copy(rows, row * (3 * size + 1) + 1);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", deflateSync(rows, { level: 1 })), chunk("IEND", Buffer.alloc(0))]);
}
