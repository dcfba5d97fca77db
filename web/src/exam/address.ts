// The address names exam, head, frame, mode and zoom: a reload returns there, and a link can be sent.

import type { Mode } from "../model/sequence.ts";
import { WHOLE, type Zoom } from "./frameview.ts";

export interface Place {
  head: number;
  frame: number;
  mode: Mode;
  zoom: Zoom;
  /** Two heads side by side. */
  both: boolean;
}

const MODES: readonly Mode[] = ["all", "flagged", "to read"];

export const examAddress = (exam: string): string => `#/exam/${encodeURIComponent(exam)}`;

export function placeAddress(exam: string, { head, frame, mode, zoom, both }: Place): string {
  const values = new URLSearchParams({ head: String(head), frame: String(frame) });
  if (mode !== "all") values.set("mode", mode);
  if (zoom.factor !== 1) values.set("zoom", [zoom.factor, zoom.x, zoom.y].map((x) => x.toFixed(3)).join(","));
  if (!both) values.set("heads", "1");
  return `${examAddress(exam)}?${values.toString().replaceAll("%2C", ",")}`;
}

/** What an address names; null if it is not one of an exam. The place is null without a frame. */
export function readAddress(hash: string): { exam: string; place: Place | null } | null {
  const [, name, query] = /^#\/exam\/([^/?]+)(?:\?(.*))?$/.exec(hash) ?? [];
  if (name === undefined) return null;
  const values = new URLSearchParams(query ?? "");
  const whole = (key: string): number => (/^\d{1,9}$/.test(values.get(key) ?? "") ? Number(values.get(key)) : NaN);
  const [head, frame] = [whole("head"), whole("frame")];
  const exam = decodeURIComponent(name);
  if (Number.isNaN(head) || Number.isNaN(frame)) return { exam, place: null };
  const mode = MODES.find((one) => one === values.get("mode")) ?? "all";
  const [factor = NaN, x = NaN, y = NaN] = (values.get("zoom") ?? "").split(",").map(Number);
  const fits = factor > 1 && factor <= 12 && Math.abs(x) <= 2 && Math.abs(y) <= 2;
  return { exam, place: { head, frame, mode, zoom: fits ? { factor, x, y } : WHOLE, both: values.get("heads") !== "1" } };
}
