// The lanes above the score: colours, what was seen, events, findings and landmarks.
// Marks differ in shape: events are bars, findings diamonds, landmarks flags.

import type { Reading } from "../../api/types.ts";
import { pixelRanges, toPixel, type View } from "../../model/axis.ts";
import { decisionOn } from "../../model/events.ts";
import { LANDMARKS, REJECTING } from "../../model/words.ts";
import { colour } from "../../theme.ts";
import type { Session } from "../session.ts";

const COLOUR = 20; // heights in pixels
const SEEN = 5;
const EVENTS = 16;
const FINDINGS = 18;

/** The lanes of one head: its colours, what was seen of it, its events. */
const HEAD = COLOUR + SEEN + 2 + EVENTS;

export const lanesHeight = (heads: number): number => heads * HEAD + FINDINGS;

/** Whose lane of events lies at this height; -1: none. */
export function eventLane(y: number): number {
  return y % HEAD >= COLOUR + SEEN + 2 ? Math.floor(y / HEAD) : -1;
}

export function drawLanes(
  context: CanvasRenderingContext2D,
  session: Session,
  reading: Reading,
  view: View,
  width: number,
  chosen: number,
): void {
  let top = 0;
  for (const { head } of session.exam.heads) {
    drawColours(context, session, head, view, width, top);
    drawSeen(context, session, head, view, width, top + COLOUR + 1);
    drawEvents(context, session, head, reading, view, width, top + COLOUR + SEEN + 2, chosen);
    top += HEAD;
  }
  drawFindings(context, session, reading, view, width, top);
}

function drawColours(
  context: CanvasRenderingContext2D,
  session: Session,
  head: number,
  view: View,
  width: number,
  top: number,
): void {
  const table = session.columns.get(head);
  const positions = session.positions.get(head);
  if (!table || !positions) return;
  const rejecting = table.reasons.map((reason) => REJECTING.has(reason));
  const ranges = pixelRanges(positions, view, width);
  const shade = colour("shade");
  const unknown = colour("line");
  for (let pixel = 0; pixel < width; pixel++) {
    const first = ranges[2 * pixel] as number;
    const end = ranges[2 * pixel + 1] as number;
    if (end <= first) continue;
    let [red, green, blue, rejected, known] = [0, 0, 0, 0, 0];
    for (let i = first; i < end; i++) {
      const [r, g, b] = [table.rgb[3 * i] ?? 0, table.rgb[3 * i + 1] ?? 0, table.rgb[3 * i + 2] ?? 0];
      if (r + g + b > 0) {
        red += r;
        green += g;
        blue += b;
        known++;
      }
      if (table.status[i] !== 0 || rejecting[table.reason[i] as number]) rejected++;
    }
    context.fillStyle = known ? `rgb(${red / known} ${green / known} ${blue / known})` : unknown;
    context.fillRect(pixel, top, 1, COLOUR);
    // Rejected stretches: a shade that grows from below with their share.
    if (rejected > 0) {
      const height = Math.max((COLOUR * 0.45 * rejected) / (end - first), 1);
      context.fillStyle = shade;
      context.fillRect(pixel, top + COLOUR - height, 1, height);
    }
  }
}

function drawSeen(
  context: CanvasRenderingContext2D,
  session: Session,
  head: number,
  view: View,
  width: number,
  top: number,
): void {
  const seen = session.viewed.displayed(head);
  const positions = session.positions.get(head);
  if (!seen || !positions) return;
  const ranges = pixelRanges(positions, view, width);
  context.fillStyle = colour("line");
  context.fillRect(0, top + SEEN / 2, width, 1);
  context.fillStyle = colour("seen");
  for (let pixel = 0; pixel < width; pixel++) {
    const first = ranges[2 * pixel] as number;
    const end = ranges[2 * pixel + 1] as number;
    let count = 0;
    for (let i = first; i < end; i++) if ((seen[i] as number) > 0) count++;
    if (count === 0) continue;
    const height = count === end - first ? SEEN : Math.max((SEEN * count) / (end - first), 1.5);
    context.fillRect(pixel, top + SEEN - height, 1, height);
  }
}

function drawEvents(
  context: CanvasRenderingContext2D,
  session: Session,
  head: number,
  reading: Reading,
  view: View,
  width: number,
  top: number,
  chosen: number,
): void {
  session.events.forEach((event, place) => {
    const positions = session.positions.get(event.head);
    if (!positions || event.head !== head) return;
    const left = toPixel(view, positions[event.first_frame] as number, width);
    const right = toPixel(view, positions[event.last_frame] as number, width);
    if (right < 0 || left > width) return;
    const decision = decisionOn(reading, event) ?? "open";
    const wide = Math.max(right - left, 4);
    const x = left + (right - left) / 2 - wide / 2;
    context.fillStyle = colour(decision);
    context.strokeStyle = colour(decision);
    context.lineWidth = 1.2;
    // Height as well as colour says what was decided: rejected ones are small and hollow.
    if (decision === "reject") context.strokeRect(x + 0.5, top + 7.5, wide - 1, 5);
    else if (decision === "unsure") context.fillRect(x, top + 5, wide, 8);
    else context.fillRect(x, top + 2, wide, 12);
    if (place === chosen) {
      context.strokeStyle = colour("ink");
      context.lineWidth = 1.5;
      context.strokeRect(x - 2.5, top + 0.75, wide + 5, 14.5);
    }
  });
}

function drawFindings(
  context: CanvasRenderingContext2D,
  session: Session,
  reading: Reading,
  view: View,
  width: number,
  top: number,
): void {
  const at = (head: number, frame: number): number =>
    toPixel(view, session.positions.get(head)?.[frame] ?? NaN, width);
  context.font = "10px system-ui, sans-serif";
  context.textBaseline = "middle";
  const middle = top + FINDINGS / 2;
  for (const [name, , letters] of LANDMARKS) {
    const mark = reading.landmarks[name]?.content;
    if (!mark) continue;
    const x = at(mark.head, mark.frame);
    context.fillStyle = colour("landmark");
    context.fillRect(x - 0.5, 0, 1, top + FINDINGS);
    const left = Math.min(x - 0.5, width - 19); // at the end of the exam the flag blows backwards
    context.fillRect(left, top + 3, 19, FINDINGS - 5);
    context.fillStyle = colour("ground");
    context.fillText(letters, left + 3, middle + 0.5);
  }
  for (const { content: finding } of reading.findings) {
    const x = at(finding.best.head, finding.best.frame);
    context.beginPath();
    context.moveTo(x, middle - 6);
    context.lineTo(x + 6, middle);
    context.lineTo(x, middle + 6);
    context.lineTo(x - 6, middle);
    context.closePath();
    context.fillStyle = colour("finding");
    context.fill();
    if (finding.urgent || finding.missed) {
      context.strokeStyle = colour("ink");
      context.lineWidth = 1.5;
      context.stroke();
    }
  }
}
