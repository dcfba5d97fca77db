// The operating point: how much there would be to read at another threshold. Nothing is screened
// anew, and nothing about this exam changes.

import uPlot from "uplot";
import { fill, h } from "../../dom.ts";
import { framesAbove, reach, workAt } from "../../model/operating.ts";
import { plural, share, value } from "../../model/words.ts";
import { colour } from "../../theme.ts";
import type { Session } from "../session.ts";

const POINTS = 120;

export function thresholdPanel(
  session: Session,
  changed: (threshold: number | null) => void,
): { element: HTMLElement; close(): void } {
  const { score, threshold: set, reading_list: listed, flagging } = session.exam;
  if (set === null) {
    return { element: h("p", { class: "soft" }, flagging || "This detector has no single threshold."), close: () => {} };
  }
  const inUse = listed ? "the last listed score" : "the threshold in use";
  const heads = session.exam.heads.map(({ head }) => {
    const table = session.columns.get(head);
    return table ? { reach: reach(table), times: table.time_s } : null;
  });
  const known = heads.filter((head) => head !== null);
  const frames = session.exam.heads.reduce((sum, head) => sum + head.frames, 0);
  const range = score.high - score.low;
  const slider = h("input", {
    type: "range",
    min: score.low,
    max: score.high,
    step: score.probability ? 0.005 : Math.max(range / 400, 1e-6),
    "aria-label": "Threshold",
  });
  slider.value = String(set);
  const numbers = h("div", { class: "work" });
  const place = h("div", { class: "curve", "aria-hidden": "true" });
  const reset = h("button", { type: "button", onclick: () => ((slider.value = String(set)), show()) }, `Back to ${inUse}`);
  const element = h(
    "div",
    { class: "threshold" },
    flagging ? h("p", {}, flagging) : null,
    h("p", {}, `${score.words}. ${listed ? "The slider shows what a threshold would flag instead of the list." : "A frame is flagged from the threshold on."}`),
    slider,
    numbers,
    place,
    reset,
    h(
      "p",
      { class: "small soft" },
      "Counted from the stored scores. Events are flagged frames at most one second or three frames apart; the screening also looks at where the balls lie, and may split them further. Nothing is changed: to use another threshold or reading list, run capsieve flag.",
    ),
  );

  const workOf = (threshold: number) =>
    known.reduce(
      (sum, head) => {
        const work = workAt(head.reach, head.times, threshold);
        return { frames: sum.frames + work.frames, events: sum.events + work.events };
      },
      { frames: 0, events: 0 },
    );
  const before = workOf(set);

  const thresholds = Float64Array.from({ length: POINTS }, (_, i) => score.low + (range * i) / (POINTS - 1));
  const curve = framesAbove(known.map((head) => head.reach), thresholds);
  let plot: uPlot | null = null;
  const draw = (): void => {
    plot?.destroy();
    const width = Math.max(place.clientWidth, 200);
    plot = new uPlot(
      {
        width,
        height: 120,
        padding: [6, 8, 0, 0],
        legend: { show: false },
        cursor: { show: false },
        select: { show: false, left: 0, top: 0, width: 0, height: 0 },
        scales: { x: { time: false }, y: { range: (_, __, high) => [0, Math.max(high, 1)] } },
        series: [{}, { stroke: colour("accent"), width: 1.5, fill: colour("wash"), points: { show: false } }],
        axes: [
          { stroke: colour("soft"), grid: { show: false }, ticks: { show: false }, size: 20, font: "11px system-ui", values: (_, at) => at.map((x) => value(x)) },
          { stroke: colour("soft"), grid: { stroke: colour("line"), width: 1 }, ticks: { show: false }, size: 48, font: "11px system-ui" },
        ],
        hooks: { draw: [mark] },
      },
      [thresholds, curve],
      place,
    );
  };
  const mark = (self: uPlot): void => {
    const x = self.valToPos(slider.valueAsNumber, "x", true);
    self.ctx.save();
    self.ctx.strokeStyle = colour("open");
    self.ctx.lineWidth = 1.5 * devicePixelRatio;
    self.ctx.beginPath();
    self.ctx.moveTo(x, self.bbox.top);
    self.ctx.lineTo(x, self.bbox.top + self.bbox.height);
    self.ctx.stroke();
    self.ctx.restore();
  };

  const show = (): void => {
    const at = slider.valueAsNumber;
    const same = Math.abs(at - set) < 1e-9 + Number(slider.step) / 2;
    const work = same ? before : workOf(at);
    const change = work.frames - before.frames;
    fill(
      numbers,
      h("div", { class: "big" }, h("b", {}, plural(work.frames, "frame")), h("span", { class: "soft" }, ` ${share(work.frames, frames)} of all`)),
      h("div", { class: "big" }, h("b", {}, plural(work.events, "event")), h("span", { class: "soft" }, " by time alone")),
      h("div", { class: "soft" }, `at ${value(same ? set : at)}${same ? `, ${inUse}` : `: ${change >= 0 ? "+" : "−"}${plural(Math.abs(change), "frame")} against ${value(set)}`}`),
    );
    reset.disabled = same;
    plot?.redraw(false);
    changed(same ? set : at);
    slider.setAttribute("aria-valuetext", `${value(same ? set : at)}: ${plural(work.frames, "frame")}, ${plural(work.events, "event")}`);
  };
  slider.addEventListener("input", show);
  const resize = new ResizeObserver(() => place.clientWidth > 0 && draw());
  resize.observe(place);
  document.addEventListener("themechange", draw);
  show();
  return {
    element,
    close() {
      resize.disconnect();
      document.removeEventListener("themechange", draw);
      plot?.destroy();
    },
  };
}
