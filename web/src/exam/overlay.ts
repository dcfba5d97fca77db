// Balls, ellipses and places over a frame. Kinds differ in their line, not only in colour.

import type { Evidence } from "../api/types.ts";

/** From the frame's pixels to those of the canvas. */
export interface Fit {
  left: number;
  top: number;
  scale: number;
}

export interface Marks {
  evidence: Evidence | null;
  map: ImageBitmap | null;
  /** Where the detector points, from the table of events. */
  pointed: { row: number; col: number; radius: number } | null;
  places: { row: number; col: number; chosen: boolean }[];
}

const BALL = "#ffc857";
const FEATURE = "#62d0ff";
const FALLEN = "#c9d2da";

export function drawMarks(
  context: CanvasRenderingContext2D,
  fit: Fit,
  { evidence, map, pointed, places }: Marks,
  size: { rows: number; cols: number },
  unit: number,
): void {
  if (map !== null) {
    context.globalAlpha = 0.75;
    context.drawImage(map, fit.left, fit.top, size.cols * fit.scale, size.rows * fit.scale);
    context.globalAlpha = 1;
  }
  // Positions are centres of pixels, 0-based: half a pixel further on the canvas.
  const x = (col: number): number => fit.left + (col + 0.5) * fit.scale;
  const y = (row: number): number => fit.top + (row + 0.5) * fit.scale;
  const stroke = (colour: string, width: number, dash: number[]): void => {
    context.setLineDash([]);
    context.strokeStyle = "rgba(0, 0, 0, 0.65)";
    context.lineWidth = (width + 2) * unit;
    context.stroke();
    context.setLineDash(dash.map((length) => length * unit));
    context.strokeStyle = colour;
    context.lineWidth = width * unit;
    context.stroke();
    context.setLineDash([]);
  };
  for (const ellipse of evidence?.ellipses ?? []) {
    const { major, minor, angle } = ellipse;
    context.beginPath();
    context.ellipse(x(ellipse.col), y(ellipse.row), major * fit.scale, minor * fit.scale, angle, 0, 7);
    if (ellipse.rejected) stroke(FALLEN, 1, [2, 4]);
    else stroke(FEATURE, 1.5, [8, 4]);
  }
  for (const ball of evidence?.balls ?? []) {
    context.beginPath();
    context.arc(x(ball.col), y(ball.row), ball.radius * fit.scale, 0, 7);
    if (ball.best) stroke(BALL, 2.5, []);
    else stroke(BALL, 1, [4, 4]);
  }
  if (pointed !== null) {
    context.beginPath();
    context.arc(x(pointed.col), y(pointed.row), pointed.radius * fit.scale, 0, 7);
    stroke(BALL, 1.2, [3, 5]);
  }
  for (const place of places) {
    const arm = (place.chosen ? 12 : 8) * unit;
    const [cx, cy] = [x(place.col), y(place.row)];
    context.beginPath();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]] as const) {
      context.moveTo(cx + 0.35 * arm * dx, cy + 0.35 * arm * dy);
      context.lineTo(cx + arm * dx, cy + arm * dy);
    }
    stroke("#ffffff", place.chosen ? 2 : 1.2, []);
  }
}
