// What the server sends and takes: the shapes of the HTTP interface, and nothing else.

export type State = "unread" | "in reading" | "signed";
export type Workflow = "single" | "validated" | "blind";
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
  workflow: Workflow;
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
  state: State;
  revision: number;
  urgent: boolean;
  frames: number;
  heads: number[];
  duration_s: number | null;
  events: number;
  flagged_frames: number;
  to_read: number;
  decided_events: number;
  /** Pre-reader decisions that were not displayed to this validator. */
  to_validate: number;
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

export interface Span {
  head: number;
  first: number;
  last: number;
}

export interface Spot {
  head: number;
  frame: number;
}

export interface DecisionContent {
  kind: "decision";
  subject: string;
  decision: Verdict;
  /** The displayed frame. */
  frame: number;
  finding: string | null;
}

export interface FindingContent {
  kind: "finding";
  subject: string;
  spans: Span[];
  best: Spot;
  size: Size | null;
  size_on: Spot | null;
  paris: Paris | null;
  segment: Location | null;
  place: { row: number; col: number } | null;
  urgent: boolean;
  note: string;
  missed: boolean;
}

export interface LandmarkContent {
  kind: "landmark";
  subject: string;
  head: number;
  frame: number;
}

export interface CleanlinessContent {
  kind: "cleanliness";
  subject: string;
  grade: number;
}

export interface NoteContent {
  kind: "note";
  subject: string;
  text: string;
}

export interface UrgentContent {
  kind: "urgent";
  subject: "exam";
  text: string;
}

export interface RemovedContent {
  kind: "removed";
  of: "decision" | "finding" | "landmark" | "cleanliness" | "urgent";
  subject: string;
}

export interface UndoContent {
  kind: "undo";
  action: number;
}

export interface SignContent {
  kind: "sign";
  statement: string;
  last: number;
  offered: string[];
  opened: string[];
  reasons: Record<string, string>;
}

export interface SignatureContent extends SignContent {
  hash: string;
  displayed_frames: number;
  viewed_frames: number;
  frames: number;
}

export interface ReopenContent {
  kind: "reopen";
  reason: string;
}

/** What the page sends as an entry. */
export type Content =
  | DecisionContent
  | FindingContent
  | LandmarkContent
  | CleanlinessContent
  | NoteContent
  | UrgentContent
  | RemovedContent
  | UndoContent
  | SignContent
  | ReopenContent;

/** An entry; the page makes some before the server has answered, with the number -1. */
export interface Entry<C = Content> {
  number: number;
  action: number;
  reader: string;
  role: string;
  time: string;
  kind: string;
  content: C;
}

/** An entry as the server sends a log: what cannot be read has no content. */
export type LogEntry = Entry<Content | null>;

export interface Reading {
  exam: string;
  revision: number;
  state: State;
  /** By the name of the event or frame. */
  decisions: Record<string, Entry<DecisionContent>>;
  /** In the order of the exam: their place is their number. */
  findings: Entry<FindingContent>[];
  landmarks: Partial<Record<Landmark, Entry<LandmarkContent>>>;
  cleanliness: {
    segments: Partial<Record<Segment, number | null>>;
    sum: number | null;
    words: string | null;
  };
  notes: Entry<NoteContent>[];
  urgent: boolean;
  signature: Entry<SignatureContent | null> | null;
  undoable: number | null;
  redoable: number | null;
  seen: { displayed: number; viewed: number; of: number };
  /** Entries that cannot be read, or do not fit the exam: a sentence each. */
  problems: string[];
  /** Decisions that do not fit the exam: to be taken back. */
  misfits: LogEntry[];
  /** Everybody whose decisions count. */
  readers: string[];
  /** What a signature of this reading would state. */
  statement: string;
  to_validate: { entry: LogEntry; frame: Spot }[];
  /** The number of the last entry that is counted in. */
  last: number;
}

/** What was the case when the exam was opened: the server takes nothing where it is so no longer. */
export interface Opened {
  reader: string;
  role: Role;
  screening: string;
}

/** What the page sends, together with Opened: all entries are stored, or none. */
export interface Action {
  key: string;
  entries: Content[];
}

export interface Difference {
  subject: string;
  a: string;
  b: string;
  head: number;
  first: number;
  last: number;
}

export interface Agreement {
  readers: string[];
  kappa: number | null;
  interval: number[] | null;
  /** Why there is no kappa, or no interval. */
  reason: string;
  words: string[];
  /** Row: first reading; column: second. */
  table: number[][];
  decided: number;
  undecided: number;
  differences: Difference[];
}
