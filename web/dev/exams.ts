// The mock's exams: tables made by formula, in the server's form.

import type { Exam, ExamRow, Reading, SieveEvent } from "../src/api/types.ts";
import { BUMPS, bumpAt } from "./pictures.ts";

export const SIZE = 320;
const REASONS = ["polyp", "texture-low", "texture-high", "no-feature", "radius-low"];

export const EXAMS: Record<string, { frames: number; heads: number; fps: number }> = {
  "phantom-01": { frames: 1800, heads: 1, fps: 4 },
  "phantom-02-two-heads": { frames: 1800, heads: 2, fps: 4 },
  "phantom-03-long": { frames: 50000, heads: 1, fps: 4 },
  "phantom-04-quiet": { frames: 120, heads: 1, fps: 4 },
};

function eventsOf(name: string): SieveEvent[] {
  const exam = EXAMS[name];
  if (!exam || exam.frames < 200) return [];
  const events: SieveEvent[] = [];
  for (let start = 0; start < exam.frames; start += 1800) {
    BUMPS.forEach(([first, last], i) => {
      const at = start + first;
      if (start + last >= exam.frames) return;
      const best = Math.round((at + start + last) / 2);
      events.push({
        event: 0, head: i % exam.heads, first_frame: at, last_frame: start + last, best_frame: best,
        frames: last - first + 1, to_read: Math.ceil((last - first + 1) / 3), score: 40 + ((i * 7 + start / 180) % 30),
        first_time_s: at / exam.fps, best_time_s: best / exam.fps, row: 192, col: 215, radius: 38,
      });
    });
  }
  events.sort((a, b) => b.score - a.score);
  return events.map((event, i) => ({ ...event, event: i + 1 }));
}

export function examOf(name: string): Exam {
  const exam = EXAMS[name] as (typeof EXAMS)[string];
  return {
    exam: name,
    heads: Array.from({ length: exam.heads }, (_, head) => ({ head, frames: exam.frames, rows: SIZE, cols: SIZE, field_of_view: null, fps: exam.fps, has_times: true })),
    threshold: 37,
    reading_list: false,
    flagging: "",
    score: { name: "R_max", words: "The score is the radius of the best ball, in working pixels.", low: 0, high: 80, probability: false },
    detector: "paper", events: eventsOf(name), warnings: [],
    disclaimer: "Research software, not a medical device.", provenance: { capsieve: "0.6", source: `${name}.mp4` }, screening: "mock",
  };
}

export function rowOf(name: string, reading: Reading): ExamRow {
  const exam = EXAMS[name] as (typeof EXAMS)[string];
  const events = eventsOf(name);
  return {
    exam: name, title: name, state: reading.state, version: reading.version, urgent: reading.urgent,
    frames: exam.frames * exam.heads, heads: Array.from({ length: exam.heads }, (_, i) => i),
    duration_s: exam.frames / exam.fps, events: events.length, flagged_frames: events.reduce((n, e) => n + e.frames, 0),
    to_read: events.reduce((n, e) => n + e.to_read, 0), decided_events: Object.keys(reading.verdicts).length,
    findings: reading.findings.length, complete: true, problems: [], readers: [], screened_at: null, readable: true,
  };
}

export function columnsOf(name: string, head: number): Buffer {
  const exam = EXAMS[name] as (typeof EXAMS)[string];
  const n = exam.frames;
  const time = new Float64Array(n);
  const score = new Float32Array(n);
  const flags = new Uint8Array(n);
  const reason = new Uint8Array(n);
  const event = new Int32Array(n).fill(-1);
  const duplicate_of = new Int32Array(n).fill(-1);
  const rgb = new Uint8Array(3 * n);
  const status = new Uint8Array(n);
  for (const one of eventsOf(name)) {
    if (one.head === head) for (let i = one.first_frame; i <= one.last_frame; i++) event[i] = one.event;
  }
  for (let i = 0; i < n; i++) {
    time[i] = i / exam.fps + head * 0.11;
    const murky = Math.sin(i / 260 + head) > 0.72;
    const flagged = (event[i] as number) > 0 && bumpAt(i, n) >= 0;
    flags[i] = flagged ? 1 : 0;
    if (flagged && i % 3 !== 0) duplicate_of[i] = i - (i % 3);
    reason[i] = flagged ? 0 : murky ? 2 : 4;
    score[i] = flagged ? 40 + (i % 25) : murky ? 0 : 14 + 10 * Math.sin(i / 9) ** 2 + (i % 11);
    const light = 0.6 + 0.25 * Math.sin(i / 70);
    rgb.set([230 * light, (murky ? 170 : 130) * light, 80 * light], 3 * i);
  }
  const columns = { time_s: time, score, flagged: flags, reason, event, duplicate_of, rgb, status };
  const types: Record<string, string> = { Float64Array: "float64", Float32Array: "float32", Int32Array: "int32", Uint8Array: "uint8" };
  const header = Buffer.from(
    JSON.stringify({
      frames: n, reasons: REASONS,
      columns: Object.entries(columns).map(([column, data]) => ({ name: column, type: types[data.constructor.name], length: data.length })),
    }),
  );
  const padded = (data: Buffer): Buffer => Buffer.concat([data, Buffer.alloc((8 - (data.length % 8)) % 8)]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  return Buffer.concat([
    padded(Buffer.concat([length, header])),
    ...Object.values(columns).map((data) => padded(Buffer.from(data.buffer))),
  ]);
}
