// A small stand-in for the server, for work on the page alone. Nothing of it is shipped.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Plugin } from "vite";
import { withAction } from "../src/model/reading.ts";
import type { Action, Entry, Reading } from "../src/api/types.ts";
import { columnsOf, EXAMS, examOf, rowOf, SIZE } from "./exams.ts";
import { bumpAt, paint, png } from "./pictures.ts";

const KEY_EVERY = 60; // frames between key frames

const entries: Entry[] = [];
const keys = new Map<string, Entry>();
const listeners = new Set<ServerResponse>();
const pictures = new Map<string, Buffer>();

function picture(head: number, frame: number, size: number, frames: number): Buffer {
  // Few different pictures, so that the mock keeps up with playback.
  const bump = bumpAt(frame, frames) >= 0;
  frame = bump ? frame % 1800 : frame % 60;
  const name = `${head}/${frame}/${size}`;
  let found = pictures.get(name);
  if (!found) {
    if (pictures.size > 3000) pictures.clear();
    pictures.set(name, (found = png(paint(frame, head, size, frames), size)));
  }
  return found;
}

function readingOf(exam: string): Reading {
  let reading: Reading = {
    exam, version: 1, state: "unread", verdicts: {}, findings: [], landmarks: {},
    cleanliness: { segments: {}, sum: null, words: null }, notes: [], urgent: false,
    signature: null, undoable: null, redoable: null, seen: { frames: 0, of: EXAMS[exam]?.frames ?? 0 },
  };
  const mine = entries.filter((entry) => entry.exam === exam);
  const undone = new Set<number>();
  for (const entry of mine.toReversed()) {
    if (entry.kind === "undo" && !undone.has(entry.number)) undone.add(entry.undoes as number);
  }
  for (const entry of mine) {
    if (undone.has(entry.number)) continue;
    reading = withAction(reading, entry, entry);
    const finding = reading.findings.at(-1);
    if (entry.kind === "finding" && finding && entry.subject.endsWith(finding.id)) finding.number = entry.number;
    if (entry.kind === "sign") {
      reading = { ...reading, state: "signed", signature: { hash: "5e7c".repeat(16), reader: entry.reader, time: entry.time, version: reading.version } };
    }
    if (entry.kind === "reopen") reading = { ...reading, state: "in reading", version: reading.version + 1, signature: null };
    if (!["undo", "sign", "reopen"].includes(entry.kind)) reading.undoable = entry.number;
  }
  const last = mine.at(-1);
  if (last?.kind === "undo" && !undone.has(last.number)) reading.redoable = last.number;
  return { ...reading, last: last?.number ?? 0 };
}

const evidence = (frame: number, flagged: boolean) => ({
  words: flagged
    ? [`The best ball has a radius of 44 pixels, and 37 or more are flagged.`, "Texture and contrast are within their bounds."]
    : ["The best ball has a radius of 21 pixels: below the threshold of 37."],
  values: [
    { name: "T_max", words: "Texture of the frame", value: 5.2 + (frame % 7) / 10, low: 3, high: 8, holds: true },
    { name: "max u", words: "How much anything stands out", value: 0.21, low: 0.16, high: null, holds: true },
    { name: "R_max", words: "Radius of the best ball", value: flagged ? 44 : 21, low: 37, high: null, holds: flagged },
  ],
  balls: [{ row: 192, col: 215 - (frame % 20), radius: 36, best: true }, { row: 100, col: 110, radius: 14, best: false }],
  ellipses: [
    { row: 192, col: 215 - (frame % 20), major: 30, minor: 22, angle: 0.4, rejected: "" },
    { row: 240, col: 100, major: 40, minor: 8, angle: -0.6, rejected: "eccentricity" },
  ],
  maps: ["u", "texture", "segmentation"],
  weights: [],
});

async function body(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
}

function pack(numbers: number[], make: (frame: number) => Buffer): Buffer {
  return Buffer.concat(
    numbers.flatMap((number) => {
      const bytes = make(number);
      const header = Buffer.alloc(12);
      header.writeUInt32LE(number, 0);
      header.writeUInt32LE(bytes.length, 4);
      header.writeUInt8(2, 8);
      return [header, bytes];
    }),
  );
}

function take(exam: string, action: Action): Entry {
  const known = keys.get(action.key);
  if (known) return known;
  const entry: Entry = {
    undoes: null, ...action, number: entries.length + 1, exam, version: 1,
    reader: "Dr. Example", role: "reader", time: new Date().toISOString(),
  };
  entries.push(entry);
  keys.set(entry.key, entry);
  for (const listener of listeners) listener.write(`data: ${JSON.stringify({ number: entry.number, exam })}\n\n`);
  return entry;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "", "http://mock");
  const json = (value: unknown, status = 200): void => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(value));
  };
  const bytes = (data: Uint8Array): void => {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    response.end(data);
  };
  const parts = url.pathname.split("/").slice(2).map(decodeURIComponent);
  if (parts[0] === "room") {
    return json({ version: "mock", way: "single", room: "mock", reader: "Dr. Example", role: "reader", readers: ["Dr. Example"], disclaimer: "Research software, not a medical device.", exams: 4, login: false, pdf: true });
  }
  if (parts[0] === "changes") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": open\n\n");
    listeners.add(response);
    request.on("close", () => listeners.delete(response));
    return;
  }
  const name = parts[1];
  if (name === undefined) return json(Object.keys(EXAMS).map((exam) => rowOf(exam, readingOf(exam))));
  const exam = EXAMS[name];
  if (!exam) return json({ detail: `There is no exam ${name} in this room.` }, 404);
  const head = Number(parts[3] ?? 0);
  const asked = (): number[] => {
    const numbers = (url.searchParams.get("numbers") ?? "").split(",").map(Number);
    if (url.searchParams.get("snap") !== "key") return numbers;
    return [...new Set(numbers.map((frame) => frame - (frame % KEY_EVERY)))];
  };
  switch (parts[2]) {
    case undefined: return json(examOf(name));
    case "timeline": return bytes(columnsOf(name, Number(url.searchParams.get("head"))));
    case "frames": return bytes(pack(asked(), (frame) => picture(head, frame, SIZE, exam.frames)));
    case "thumbnails": return bytes(pack(asked(), (frame) => picture(head, frame, 96, exam.frames)));
    case "evidence": {
      if (parts[5]) return void response.end(picture(head, Number(parts[4]), 64, exam.frames));
      const table = examOf(name).events;
      const frame = Number(parts[4]);
      return json(evidence(frame, table.some((e) => e.head === head && frame >= e.first_frame && frame <= e.last_frame)));
    }
    case "reading": return json(readingOf(name));
    case "seen": {
      if (request.method === "POST") await body(request);
      return json({});
    }
    case "agreement": return json({ detail: "Both readers have to sign first." }, 409);
    case "entries": {
      if (request.method === "POST") return json(take(name, (await body(request)) as unknown as Action));
      const after = Number(url.searchParams.get("after") ?? 0);
      return json(entries.filter((entry) => entry.exam === name && entry.number > after));
    }
  }
  json({ detail: "The mock does not know this." }, 404);
}

export function mockApi(): Plugin {
  return {
    name: "capsieve-mock",
    apply: "serve",
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        if (!request.url?.startsWith("/api/")) return next();
        answer(request, response).catch((error: unknown) => {
          response.writeHead(500);
          response.end(JSON.stringify({ detail: String(error) }));
        });
      });
    },
  };
}
