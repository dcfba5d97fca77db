// Names for the shapes that the server sends and takes. schema.ts is generated from the server's
// models by "npm run schema".

import type { components } from "./schema.ts";

type Shapes = components["schemas"];

export type Room = Shapes["Room"];
export type ExamRow = Shapes["ExamRow"];
export type Exam = Shapes["Exam"];
export type Head = Shapes["Head"];
export type SieveEvent = Shapes["Event"];
export type Evidence = Shapes["Evidence"];
export type Span = Shapes["Span"];
export type Spot = Shapes["Spot"];
export type Agreement = Shapes["Agreement"];
export type Difference = Shapes["Difference"];

export type DecisionContent = Shapes["Decision"];
export type FindingContent = Shapes["Finding"];
export type LandmarkContent = Shapes["Landmark"];
export type CleanlinessContent = Shapes["Cleanliness"];
export type NoteContent = Shapes["Note"];
export type UrgentContent = Shapes["Urgent"];
export type RemovedContent = Shapes["Removed"];
export type UndoContent = Shapes["Undo"];
export type ReopenContent = Shapes["Reopen"];
export type SignContent = Shapes["Sign"];
export type SignatureContent = Shapes["Signature"];

export type State = ExamRow["state"];
export type Workflow = Room["workflow"];
export type Role = Room["role"];
export type Decision = DecisionContent["decision"];
export type Size = NonNullable<FindingContent["size"]>;
export type Paris = NonNullable<FindingContent["paris"]>;
/** Where a finding is, as precisely as the reader can tell. */
export type Location = NonNullable<FindingContent["segment"]>;
export type Segment = Extract<Location, "right" | "transverse" | "left">;
export type Landmark =
  | "first-colon"
  | Extract<Location, "caecum" | "hepatic-flexure" | "splenic-flexure" | "rectum">
  | "last-colon";

/** What the page sends as an entry. */
export type Content = Shapes["Action"]["entries"][number];

/** An entry; the page makes some before the server has answered, with the number -1. */
export type Entry<C = Content> = Pick<
  Shapes["Entry"],
  "number" | "action" | "reader" | "role" | "time" | "kind"
> & { content: C };

/** An entry as the server sends a log: what cannot be read has no content. */
export type LogEntry = Entry<Content | SignatureContent | null>;

/** A reading; its entries have the content of their kind. */
export type Reading = Omit<
  Shapes["ReadingView"],
  "decisions" | "findings" | "landmarks" | "cleanliness" | "notes" | "signature" | "misfits" | "to_validate"
> & {
  decisions: Record<string, Entry<DecisionContent>>;
  findings: Entry<FindingContent>[];
  landmarks: Partial<Record<Landmark, Entry<LandmarkContent>>>;
  cleanliness: Shapes["Clean"] & { segments: Partial<Record<Segment, number | null>> };
  notes: Entry<NoteContent>[];
  signature: Entry<SignatureContent | null> | null;
  misfits: LogEntry[];
  to_validate: { entry: LogEntry; frame: Spot }[];
};

/** Sent with every action: the exam as it was opened; the server refuses it if that has changed. */
export type Opened = Pick<Shapes["Action"], "reader" | "screening"> & { role: Role };

/** Sent together with Opened: all entries are stored, or none. */
export type Action = Pick<Shapes["Action"], "key" | "entries">;
