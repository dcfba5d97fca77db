// The score along the exam, with the threshold. Drawn by uPlot, on the same scale as the lanes.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { ticks, type View } from "../../model/axis.ts";
import { clock, count, value } from "../../model/words.ts";
import { colour } from "../../theme.ts";
import type { Session } from "../session.ts";

export const GUTTER = 46; // left of the plot, for the labels
export const MARGIN = 10; // right of it
export const SCORE_HEIGHT = 84;

export interface ScorePlot {
  setHead(head: number): void;
  setView(view: View): void;
  setThreshold(threshold: number | null): void;
  resize(width: number): void;
  close(): void;
}

export function makeScorePlot(place: HTMLElement, session: Session): ScorePlot {
  const { score, heads } = session.exam;
  let threshold = session.exam.threshold;
  let view: View = { low: 0, high: 1 };
  let width = 600;
  let head = heads[0]?.head ?? 0;
  let plot: uPlot | null = null;

  const data = (): uPlot.AlignedData => {
    const scores = session.columns.get(head)?.score ?? new Float32Array();
    // Frames without a score are drawn on the lowest line; the shade above distinguishes them from low scores.
    const shown = Array.from(scores, (s) => (Number.isNaN(s) ? score.low : Math.max(s, score.low)));
    return [session.positions.get(head) ?? new Float64Array(), shown];
  };

  const line = (self: uPlot): void => {
    if (threshold === null) return;
    const y = Math.round(self.valToPos(threshold, "y", true)) + 0.5;
    const { left, width: wide } = self.bbox;
    const { ctx } = self;
    ctx.save();
    ctx.strokeStyle = colour("open");
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(left, y);
    ctx.lineTo(left + wide, y);
    ctx.stroke();
    ctx.restore();
  };

  const make = (): void => {
    plot?.destroy();
    const axis = { stroke: () => colour("soft"), font: "11px system-ui, sans-serif" };
    const grid = { stroke: () => colour("line"), width: 1 };
    plot = new uPlot(
      {
        width: width + GUTTER + MARGIN,
        height: SCORE_HEIGHT,
        padding: [9, MARGIN, 0, 0],
        legend: { show: false },
        cursor: { show: false },
        select: { show: false, left: 0, top: 0, width: 0, height: 0 },
        scales: {
          x: { time: false, range: () => [view.low, view.high] },
          y: { range: () => [score.low, Math.max(score.high, score.low + 1e-9)] },
        },
        series: [{}, { stroke: () => colour("accent"), width: 1, points: { show: false } }],
        axes: [
          {
            ...axis,
            grid,
            ticks: { show: false },
            size: 18,
            gap: 2,
            splits: () => ticks(view, width / 90, session.hasTimes),
            values: (_, splits) => splits.map((at) => (session.hasTimes ? clock(at) : count(at))),
          },
          {
            ...axis,
            grid: { show: false },
            ticks: { show: false },
            size: GUTTER,
            gap: 4,
            splits: () => [score.low, ...(threshold === null ? [] : [threshold]), score.high],
            values: (_, splits) => splits.map((at) => value(at)),
          },
        ],
        hooks: { draw: [line] },
      },
      data(),
      place,
    );
  };
  make();
  const themed = (): void => plot?.redraw(false);
  document.addEventListener("themechange", themed);

  return {
    setHead(next) {
      head = next;
      plot?.setData(data());
    },
    setView(next) {
      view = next;
      plot?.setScale("x", { min: view.low, max: view.high });
    },
    setThreshold(next) {
      threshold = next;
      plot?.redraw(false, true);
    },
    resize(next) {
      width = next;
      plot?.setSize({ width: width + GUTTER + MARGIN, height: SCORE_HEIGHT });
    },
    close() {
      document.removeEventListener("themechange", themed);
      plot?.destroy();
    },
  };
}
