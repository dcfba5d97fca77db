// What the server sends and takes: the shapes of the HTTP interface, and nothing else.

export type State = "unread" | "in reading" | "signed";
export type Way = "single" | "validated" | "blind";
export type Role = "reader" | "pre-reader" | "validator" | "consensus";
export type Verdict = "accept" | "reject" | "unsure";
export type Size = "diminutive" | "small" | "large";
export type Paris = "0-Ip" | "0-Isp" | "0-Is" | "0-IIa" | "0-IIb" | "0-IIc" | "0-III";
export type Segment = "right" | "transverse" | "left";
/** Where a finding lies, as finely as the reader can tell. */
export type Location =
  | Segment
  | "caecum"
  | "ascending"
  | "hepatic-flexure"
  | "splenic-flexure"
  | "descending"
  | "sigmoid"
  | "rectum";
export type Landmark =
  | "first-colon"
  | "caecum"
  | "hepatic-flexure"
  | "splenic-flexure"
  | "rectum"
  | "last-colon";

export interface Room {
  version: string;
  way: Way;
  /** The room's id, as long as its database is the same. */
  room: string;
  reader: string;
  role: Role;
  readers: string[];
  disclaimer: string;
  exams: number;
  /** Whether one came in by name and password, and can log out. */
  login: boolean;
  /** Whether reports come as PDF, too. */
  pdf: boolean;
}

export interface ExamRow {
  exam: string;
  title: string;
  state: State;
  version: number;
  urgent: boolean;
  frames: number;
  heads: number[];
  duration_s: number | null;
  events: number;
  flagged_frames: number;
  to_read: number;
  decided_events: number;
  findings: number;
  complete: boolean;
  problems: string[];
  /** Without a name (""): another one, who reads blind. */
  readers: { reader: string; state: string }[];
  screened_at: string | null;
  readable: boolean;
}

export interface Head {
  head: number;
  frames: number;
  rows: number;
  cols: number;
  field_of_view: { row: number; col: number; radius: number } | null;
  fps: number | null;
  has_times: boolean;
}

export interface SieveEvent {
  event: number;
  head: number;
  first_frame: number;
  last_frame: number;
  best_frame: number;
  frames: number;
  to_read: number;
  score: number;
  first_time_s: number | null;
  best_time_s: number | null;
  row: number | null;
  col: number | null;
  radius: number | null;
}

export interface Exam {
  exam: string;
  heads: Head[];
  threshold: number | null;
  reading_list: boolean;
  flagging: string;
  score: { name: string; words: string; low: number; high: number; probability: boolean };
  detector: string;
  events: SieveEvent[];
  warnings: string[];
  disclaimer: string;
  provenance: Record<string, unknown>;
  /** Another one whenever the exam was screened anew. */
  screening: string;
}

export interface Evidence {
  words: string[];
  values: {
    name: string;
    words: string;
    value: number | null;
    low: number | null;
    high: number | null;
    holds: boolean;
  }[];
  balls: { row: number; col: number; radius: number; best: boolean }[];
  ellipses: {
    row: number;
    col: number;
    major: number;
    minor: number;
    angle: number;
    rejected: string;
  }[];
  maps: string[];
}

export interface FindingContent {
  head: number;
  frames: number[];
  best_frame: number;
  size: Size | null;
  size_frame: number | null;
  paris: Paris | null;
  segment: Location | null;
  place: { row: number; col: number } | null;
  urgent: boolean;
  note: string;
  missed_by_sieve: boolean;
}

export interface Finding extends FindingContent {
  id: string;
  reader: string;
  time: string;
  number: number;
  confirmed: boolean | null;
}

export interface VerdictSaid {
  verdict: Verdict | null;
  reader: string;
  time: string;
  number: number;
  confirmed?: boolean | null;
  finding?: string | null;
}

export interface Note {
  subject: string;
  text: string;
  reader: string;
  time: string;
  number: number;
}

export interface Signature {
  hash: string;
  reader: string;
  time: string;
  version: number;
}

export interface Reading {
  exam: string;
  version: number;
  state: State;
  verdicts: Record<string, VerdictSaid>;
  findings: Finding[];
  landmarks: Partial<
    Record<Landmark, { head: number; frame: number; reader: string; time: string }>
  >;
  cleanliness: {
    segments: Partial<Record<Segment, number | null>>;
    sum: number | null;
    words: string | null;
  };
  notes: Note[];
  urgent: boolean;
  signature: Signature | null;
  undoable: number | null;
  redoable: number | null;
  seen: { frames: number; of: number };
  /** Entries that cannot be read, or were made on another screening: a sentence each. */
  problems?: string[];
  /** The number of the last entry that is counted in. */
  last?: number;
}

export type Kind =
  | "verdict"
  | "finding"
  | "landmark"
  | "cleanliness"
  | "note"
  | "urgent"
  | "confirm"
  | "undo"
  | "sign"
  | "reopen";

/** What was the case when the exam was opened: the server takes nothing where it is so no longer. */
export interface Opened {
  reader: string;
  role: Role;
  screening: string;
}

/** What the page says, together with Opened; the server adds number and time. */
export interface Action {
  key: string;
  kind: Kind;
  subject: string;
  content: Record<string, unknown>;
  undoes?: number | null;
}

export interface Entry extends Action {
  number: number;
  exam: string;
  version: number;
  reader: string;
  role: Role;
  time: string;
}

export interface Difference {
  subject: string;
  a: string;
  b: string;
  head: number;
  frames: number[];
}

export interface Agreement {
  kappa: number | null;
  interval: number[] | null;
  /** Why there is no kappa. */
  reason?: string | null;
  words?: string[];
  /** Row: first reading; column: second. */
  table: number[][];
  decided?: number;
  undecided?: number;
  differences: Difference[];
}
