// Requests to the server, and errors as sentences.

import { parseColumns, type Columns } from "./columns.ts";
import { parsePack, type Packed } from "./pack.ts";
import { isOf } from "../saving/owner.ts";
import type {
  Action,
  Agreement,
  Evidence,
  Exam,
  ExamRow,
  LogEntry,
  Reading,
  Room,
} from "./types.ts";

/** The server answered, and said no. */
export class Refused extends Error {
  readonly status: number;
  constructor(status: number, sentence: string) {
    super(sentence);
    this.status = status;
  }
}

/** There was no answer: the server is down, or the connection is. */
export class Unreached extends Error {}

const examPath = (exam: string): string => `api/exams/${encodeURIComponent(exam)}`;

const AUTOMATIC = { "x-capsieve-automatic": "1" }; // does not prolong a session
const LONGEST = 3_600_000; // milliseconds that playback counts as activity, without a key or a click

let pressed = Date.now();
if (typeof document !== "undefined") {
  for (const type of ["keydown", "pointerdown"]) document.addEventListener(type, () => void (pressed = Date.now()), true);
}

async function request(path: string, init?: RequestInit): Promise<Response> {
  let answer: Response;
  const headers = { ...(Date.now() - pressed > LONGEST ? AUTOMATIC : {}), ...init?.headers };
  try {
    answer = await fetch(path, { credentials: "same-origin", ...init, headers });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Unreached("The server does not answer.");
  }
  if (answer.ok || answer.status === 304) return answer;
  throw new Refused(answer.status, await sentence(answer));
}

async function sentence(answer: Response): Promise<string> {
  try {
    const body = (await answer.json()) as { detail?: unknown };
    if (typeof body.detail === "string") return body.detail;
  } catch {
    // Not JSON: a proxy's page. The number has to do.
  }
  return `The server answered with ${answer.status}.`;
}

async function json<T>(path: string, init?: RequestInit): Promise<T> {
  return (await (await request(path, init)).json()) as T;
}

/** Who opened this window; what another one's session answers is not shown in it. */
export const opener = { room: null as Room | null, another: (_now: Room): void => {} };

/** Whether the session is still that of the reader who opened this window. */
async function isSame(): Promise<boolean> {
  if (opener.room === null) return true;
  const now = await json<Room>("api/room", { headers: AUTOMATIC });
  if (isOf(now, opener.room)) return true;
  opener.another(now);
  return false;
}

const tags = new Map<string, string>();

/** A request that the page repeats by itself; null if the answer has not changed. */
async function changed<T>(path: string): Promise<T | null> {
  const tag = tags.get(path);
  const answer = await request(path, { headers: { ...AUTOMATIC, ...(tag === undefined ? {} : { "if-none-match": tag }) } });
  if (answer.status === 304) return null;
  const found = (await answer.json()) as T;
  if (!(await isSame())) return null;
  tags.set(path, answer.headers.get("etag") ?? "");
  return found;
}

function post<T>(path: string, body: unknown, keepalive = false): Promise<T> {
  return json<T>(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    keepalive,
  });
}

export const api = {
  room: () => json<Room>("api/room"),
  exams: () => json<ExamRow[]>("api/exams"),
  examsIfChanged: () => changed<ExamRow[]>("api/exams"),
  exam: (exam: string) => json<Exam>(examPath(exam)),
  reading: (exam: string, reader?: string) =>
    json<Reading>(
      `${examPath(exam)}/reading${reader ? `?reader=${encodeURIComponent(reader)}` : ""}`,
    ),
  readingIfChanged: (exam: string) => changed<Reading>(`${examPath(exam)}/reading`),
  isSame,
  entries: (exam: string, after: number) =>
    json<LogEntry[]>(`${examPath(exam)}/entries?after=${after}`),
  agreement: (exam: string) => json<Agreement>(`${examPath(exam)}/agreement`),
  evidence: (exam: string, head: number, frame: number, signal?: AbortSignal) =>
    json<Evidence>(`${examPath(exam)}/evidence/${head}/${frame}`, signal ? { signal } : {}),
  viewed: (exam: string) =>
    json<Record<string, { frames: number; displayed: string; viewed: string }>>(`${examPath(exam)}/viewed`),

  async columns(exam: string, head: number): Promise<Columns> {
    const answer = await request(`${examPath(exam)}/timeline?head=${head}`);
    return parseColumns(await answer.arrayBuffer());
  },
  async pack(
    exam: string,
    head: number,
    numbers: readonly number[],
    signal: AbortSignal,
  ): Promise<Packed[]> {
    const path = `${examPath(exam)}/frames/${head}?numbers=${numbers.join(",")}`;
    return parsePack(await (await request(path, { signal })).arrayBuffer());
  },
  /** The nearest key frame at or before a frame; its number is in the result. */
  async keyFrame(exam: string, head: number, frame: number, signal: AbortSignal): Promise<Packed> {
    const path = `${examPath(exam)}/frames/${head}?numbers=${frame}&snap=key`;
    const [found] = parsePack(await (await request(path, { signal })).arrayBuffer());
    return found ?? { number: frame, type: "", bytes: new Uint8Array() };
  },
  async thumbnails(exam: string, head: number, numbers: readonly number[]): Promise<Packed[]> {
    const path = `${examPath(exam)}/thumbnails/${head}?numbers=${numbers.join(",")}`;
    return parsePack(await (await request(path)).arrayBuffer());
  },
  async map(exam: string, head: number, frame: number, name: string): Promise<ImageBitmap> {
    const path = `${examPath(exam)}/evidence/${head}/${frame}/${encodeURIComponent(name)}.png`;
    return createImageBitmap(await (await request(path)).blob());
  },
  exportLink: (exam: string, file: "decisions.csv" | "labels.csv" | "report.html" | "report.pdf"): string =>
    `${examPath(exam)}/export/${file}`,

  logout: () => request("logout", { method: "POST" }),
  act: (exam: string, action: Action) => post<LogEntry[]>(`${examPath(exam)}/entries`, action),
  saw: (exam: string, body: unknown, leaving = false) =>
    post<unknown>(`${examPath(exam)}/viewed`, body, leaving),
};
