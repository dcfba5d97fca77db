// Brightness, contrast and colours of what is shown. The picture itself is never changed: this is a
// filter of the browser over the canvas, and one key switches it off.

export interface Adjustment {
  brightness: number;
  contrast: number;
  /** Stronger colours. */
  saturated: boolean;
}

export const NEUTRAL: Adjustment = { brightness: 1, contrast: 1, saturated: false };

export function cssFilter({ brightness, contrast, saturated }: Adjustment): string {
  const parts: string[] = [];
  if (saturated) parts.push("saturate(1.5)");
  if (brightness !== 1) parts.push(`brightness(${brightness})`);
  if (contrast !== 1) parts.push(`contrast(${contrast})`);
  return parts.join(" ") || "none";
}

/** How the picture is changed; empty if it is not. */
export function adjustmentWords({ brightness, contrast, saturated }: Adjustment): string {
  const parts: string[] = [];
  if (saturated) parts.push("stronger colours");
  if (brightness !== 1) parts.push(`brightness ${Math.round(100 * brightness)} %`);
  if (contrast !== 1) parts.push(`contrast ${Math.round(100 * contrast)} %`);
  return parts.length ? `Picture changed: ${parts.join(", ")}` : "";
}

const limit = (x: number): number => Math.round(100 * Math.min(Math.max(x, 0.4), 2.5)) / 100;

export const brighter = (now: Adjustment, by: number): Adjustment => ({ ...now, brightness: limit(now.brightness + by) });

export const harder = (now: Adjustment, by: number): Adjustment => ({ ...now, contrast: limit(now.contrast + by) });
