// What a reading becomes by an action: shown at once, before the server has answered.

import type {
  Action,
  Finding,
  FindingContent,
  Landmark,
  Note,
  Reading,
  Segment,
  Verdict,
} from "../api/types.ts";
import { judge } from "./clear.ts";

export interface By {
  reader: string;
  time: string;
}

/** The reading with one more action. Undo, sign and reopen wait for the server. */
export function withAction(reading: Reading, action: Action, by: By): Reading {
  const said = { ...by, number: -1 };
  const [, name = ""] = action.subject.split(":");
  switch (action.kind) {
    case "verdict": {
      const verdict = action.content["verdict"] as Verdict | null;
      const verdicts = { ...reading.verdicts };
      if (verdict === null) delete verdicts[action.subject];
      else verdicts[action.subject] = { ...said, verdict, finding: (action.content["finding"] ?? null) as string | null };
      return begun({ ...reading, verdicts });
    }
    case "finding": {
      const others = reading.findings.filter((finding) => finding.id !== name);
      if (action.content["removed"] === true) return { ...reading, findings: others };
      const old = reading.findings.findIndex((finding) => finding.id === name);
      const content = action.content as unknown as FindingContent;
      const finding: Finding = { ...said, confirmed: null, id: name, ...content };
      const findings = old < 0 ? [...reading.findings, finding] : reading.findings.with(old, finding);
      return begun({ ...reading, findings });
    }
    case "landmark": {
      const landmarks = { ...reading.landmarks };
      if (action.content["removed"] === true) delete landmarks[name as Landmark];
      else {
        const { head, frame } = action.content as { head: number; frame: number };
        landmarks[name as Landmark] = { ...by, head, frame };
      }
      return begun({ ...reading, landmarks });
    }
    case "cleanliness": {
      const grade = action.content["grade"] as number | null;
      const segments = { ...reading.cleanliness.segments, [name as Segment]: grade };
      return begun({ ...reading, cleanliness: { segments, ...judge(segments) } });
    }
    case "note": {
      const text = String(action.content["text"] ?? "");
      const note: Note = { ...said, subject: action.subject, text };
      return begun({ ...reading, notes: [...reading.notes, note] });
    }
    case "urgent":
      return begun({ ...reading, urgent: action.content["urgent"] === true });
    case "confirm": {
      const agrees = action.content["agrees"] === true;
      const verdict = reading.verdicts[action.subject];
      const verdicts = verdict
        ? { ...reading.verdicts, [action.subject]: { ...verdict, confirmed: agrees } }
        : reading.verdicts;
      const findings = reading.findings.map((finding) =>
        action.subject === `finding:${finding.id}` ? { ...finding, confirmed: agrees } : finding,
      );
      return { ...reading, verdicts, findings };
    }
    default:
      return reading;
  }
}

function begun(reading: Reading): Reading {
  return reading.state === "unread" ? { ...reading, state: "in reading" } : reading;
}
