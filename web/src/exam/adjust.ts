// Brightness, contrast and colours of what is shown. The picture itself is never changed: this is
// a filter of the browser over the canvas, and one key takes it off.

import { svg } from "../dom.ts";
import { signal } from "@preact/signals";

export type Enhancement = "off" | "saturation" | "vessels";

export interface Adjustment {
  brightness: number;
  contrast: number;
  enhancement: Enhancement;
}

export const NEUTRAL: Adjustment = { brightness: 1, contrast: 1, enhancement: "off" };

export const ENHANCEMENT_WORDS: Record<Enhancement, string> = {
  off: "natural colours",
  saturation: "stronger colours",
  vessels: "vessels and pits (green and blue light weigh more)",
};

const ORDER: Enhancement[] = ["off", "saturation", "vessels"];

// Rows of red, green, blue. After the idea of spectral enhancement (FICE): the red channel, in
// which mucosa is bright everywhere, gives way to green and blue, which blood absorbs.
const VESSELS = "0.25 0.95 -0.15 0 -0.02  -0.05 0.45 0.65 0 0  -0.05 0.15 0.95 0 0.02  0 0 0 1 0";

export const nextEnhancement = (now: Enhancement): Enhancement =>
  ORDER[(ORDER.indexOf(now) + 1) % ORDER.length] as Enhancement;

export function cssFilter({ brightness, contrast, enhancement }: Adjustment): string {
  const parts: string[] = [];
  if (enhancement === "saturation") parts.push("saturate(1.5)");
  if (enhancement === "vessels") parts.push("url(#vessels)", "contrast(1.25)");
  if (brightness !== 1) parts.push(`brightness(${brightness})`);
  if (contrast !== 1) parts.push(`contrast(${contrast})`);
  return parts.join(" ") || "none";
}

/** What the reader is told while the picture is not shown as it was taken; empty when it is. */
export function adjustmentWords({ brightness, contrast, enhancement }: Adjustment): string {
  const parts: string[] = [];
  if (enhancement !== "off") parts.push(ENHANCEMENT_WORDS[enhancement]);
  if (brightness !== 1) parts.push(`brightness ${Math.round(100 * brightness)} %`);
  if (contrast !== 1) parts.push(`contrast ${Math.round(100 * contrast)} %`);
  return parts.length ? `Picture changed: ${parts.join(", ")}` : "";
}

export function makeAdjustment() {
  return signal<Adjustment>(NEUTRAL);
}

const limit = (x: number): number => Math.round(100 * Math.min(Math.max(x, 0.4), 2.5)) / 100;

export const brighter = (now: Adjustment, by: number): Adjustment => ({
  ...now,
  brightness: limit(now.brightness + by),
});

export const harder = (now: Adjustment, by: number): Adjustment => ({
  ...now,
  contrast: limit(now.contrast + by),
});

/** The colour matrix, once in the page. */
export function filterElement(): SVGElement {
  return svg(
    "svg",
    { width: 0, height: 0, "aria-hidden": "true", class: "filters" },
    svg(
      "filter",
      { id: "vessels", "color-interpolation-filters": "sRGB" },
      svg("feColorMatrix", { type: "matrix", values: VESSELS }),
    ),
  );
}
