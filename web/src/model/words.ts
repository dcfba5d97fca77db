// Names and numbers as a reader says them.

import type { Landmark, Location, Paris, Size, Decision } from "../api/types.ts";

export const DECISIONS: Record<Decision, { words: string; sign: string }> = {
  accept: { words: "accepted", sign: "✓" },
  reject: { words: "rejected", sign: "✕" },
  unsure: { words: "unsure", sign: "?" },
};

export const SIZES: readonly (readonly [Size, string])[] = [
  ["diminutive", "up to 5 mm"],
  ["small", "6 to 9 mm"],
  ["large", "10 mm or more"],
];

export const PARIS: readonly (readonly [Paris, string])[] = [
  ["0-Ip", "on a stalk"],
  ["0-Isp", "short stalk"],
  ["0-Is", "sessile"],
  ["0-IIa", "slightly raised"],
  ["0-IIb", "flat"],
  ["0-IIc", "slightly sunken"],
  ["0-III", "excavated"],
];

export const LOCATIONS: readonly (readonly [Location, string])[] = [
  ["right", "right colon"],
  ["caecum", "caecum"],
  ["ascending", "ascending colon"],
  ["hepatic-flexure", "hepatic flexure"],
  ["transverse", "transverse colon"],
  ["splenic-flexure", "splenic flexure"],
  ["left", "left colon"],
  ["descending", "descending colon"],
  ["sigmoid", "sigmoid colon"],
  ["rectum", "rectum"],
];

export const LANDMARKS: readonly (readonly [Landmark, string, string])[] = [
  ["first-colon", "first frame of the colon", "FC"],
  ["caecum", "caecum", "CA"],
  ["hepatic-flexure", "hepatic flexure", "HF"],
  ["splenic-flexure", "splenic flexure", "SF"],
  ["rectum", "rectum", "RE"],
  ["last-colon", "last frame of the colon", "LC"],
];

export const REASONS: Record<string, string> = {
  polyp: "flagged as a possible polyp",
  "texture-low": "rejected: too little texture (blurred, or a bubble)",
  "texture-high": "rejected: too much texture (debris or bubbles)",
  uninformative: "rejected: hardly anything to see",
  "no-feature": "nothing raised was found",
  "radius-low": "the best ball is too small",
  "score-low": "the score is below the threshold",
};

/** The reasons that reject a frame before a polyp is looked for. */
export const REJECTING = new Set(["texture-low", "texture-high", "uninformative"]);

/** Who reads blind has no name for the other one, until both have signed. */
export const readerWords = (reader: string): string => reader || "another reader";

const pad = (n: number): string => String(n).padStart(2, "0");

/** Seconds as h:mm:ss, as in reports. */
export function clock(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  const sign = seconds < 0 ? "−" : "";
  const whole = Math.floor(Math.abs(seconds));
  return `${sign}${Math.floor(whole / 3600)}:${pad(Math.floor((whole % 3600) / 60))}:${pad(whole % 60)}`;
}

/** With thin spaces between thousands, so that 50 000 does not look like 5 000. */
export const count = (n: number): string =>
  String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");

export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${count(n)} ${n === 1 ? one : many}`;

/** Three significant digits, no exponents where a person would write none. */
export function value(x: number | null | undefined): string {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const size = Math.abs(x);
  if (size !== 0 && (size < 0.001 || size >= 1e6)) return x.toExponential(1);
  return String(Number(x.toPrecision(3)));
}

/** A share in percent, as in reports: one digit below 10 % and above 99 %; only 0 is 0 %, only all is 100 %. */
export function share(part: number, whole: number): string {
  if (whole <= 0) return "–";
  if (part === 0 || part === whole) return part === 0 ? "0 %" : "100 %";
  const digits = 10 * part < whole || 100 * part > 99 * whole ? 1 : 0;
  const scale = 10 ** digits;
  const rounded = Math.floor((200 * scale * part + whole) / (2 * whole)); // half up, without fractions
  if (rounded === 0) return `< ${(1 / scale).toFixed(digits)} %`;
  if (rounded === 100 * scale) return `> ${(100 - 1 / scale).toFixed(digits)} %`;
  return `${(rounded / scale).toFixed(digits)} %`;
}
