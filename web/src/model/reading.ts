// What a reading becomes by an action: shown at once, before the server has answered.

import type { Action, Content, Entry, Landmark, Reading, Segment } from "../api/types.ts";
import { judge } from "./clear.ts";

export interface By {
  reader: string;
  role: string;
  time: string;
}

/** The reading with one more action. Undo, sign and reopen wait for the server. */
export function withAction(reading: Reading, action: Action, by: By): Reading {
  return action.entries.reduce((now, content) => withContent(now, content, by), reading);
}

function withContent(reading: Reading, content: Content, by: By): Reading {
  const entry = <C extends Content>(said: C): Entry<C> => ({ ...by, number: -1, action: -1, kind: said.kind, content: said });
  switch (content.kind) {
    case "decision":
      return begun({ ...reading, decisions: { ...reading.decisions, [content.subject]: entry(content) } });
    case "finding": {
      const old = reading.findings.findIndex((finding) => finding.content.subject === content.subject);
      const findings = old < 0 ? [...reading.findings, entry(content)] : reading.findings.with(old, entry(content));
      return begun({ ...reading, findings });
    }
    case "landmark":
      return begun({ ...reading, landmarks: { ...reading.landmarks, [nameOf(content.subject)]: entry(content) } });
    case "cleanliness":
      return begun(withGrade(reading, nameOf(content.subject) as Segment, content.grade));
    case "note":
      return begun({ ...reading, notes: [...reading.notes, entry(content)] });
    case "urgent":
      return begun({ ...reading, urgent: true });
    case "removed":
      return begun(without(reading, content.of, content.subject));
    default:
      return reading;
  }
}

const nameOf = (subject: string): string => subject.split(":")[1] ?? "";

function withGrade(reading: Reading, segment: Segment, grade: number | null): Reading {
  const segments = { ...reading.cleanliness.segments, [segment]: grade };
  return { ...reading, cleanliness: { segments, ...judge(segments) } };
}

function without(reading: Reading, of: string, subject: string): Reading {
  if (of === "cleanliness") return withGrade(reading, nameOf(subject) as Segment, null);
  if (of === "urgent") return { ...reading, urgent: false };
  if (of === "finding") {
    return { ...reading, findings: reading.findings.filter((finding) => finding.content.subject !== subject) };
  }
  const decisions = { ...reading.decisions };
  const landmarks = { ...reading.landmarks };
  if (of === "decision") delete decisions[subject];
  else delete landmarks[nameOf(subject) as Landmark];
  return { ...reading, decisions, landmarks };
}

function begun(reading: Reading): Reading {
  return reading.state === "unread" ? { ...reading, state: "in reading" } : reading;
}
