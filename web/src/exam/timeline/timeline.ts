// The whole exam under the frame: lanes, score and the line where we are. Click or drag to go
// there, wheel to zoom in time, double-click for the whole exam.

import { cleaner, h } from "../../dom.ts";
import { follow, pan, span, toPixel, toPosition, zoom, type View } from "../../model/axis.ts";
import { nearest } from "../../model/positions.ts";
import { clock } from "../../model/words.ts";
import type { Screen } from "../screen.ts";
import type { Session } from "../session.ts";
import { drawLanes, eventLane, lanesHeight } from "./lanes.ts";
import { GUTTER, makeScorePlot, MARGIN } from "./score.ts";

export interface Timeline {
  element: HTMLElement;
  /** A factor below 1 zooms in, around where we are. */
  zoomBy(factor: number): void;
  showAll(): void;
  setThreshold(threshold: number | null): void;
  close(): void;
}

const LEAST = { seconds: 4, frames: 20 };

export function makeTimeline(session: Session, screen: Screen): Timeline {
  const clean = cleaner();
  const { heads } = session.exam;
  const whole = wholeOf(session);
  let view: View = whole;
  let width = 600;
  let stale = true;

  const canvas = h("canvas", { class: "lanes", "aria-hidden": "true" });
  const names = h(
    "div",
    { class: "lanenames soft", "aria-hidden": "true" },
    ...heads.flatMap(({ head }) => [
      h("span", { class: "two" }, heads.length > 1 ? `head ${head}` : "colour"),
      h("span", {}, "events"),
    ]),
    h("span", { class: "three" }, "marks"),
  );
  const scoreName = h("span", { class: "scorename soft", "aria-hidden": "true" }, "score");
  const score = h("div", { class: "score" });
  const line = h("div", { class: "playhead" });
  const element = h(
    "div",
    {
      class: "timeline",
      role: "slider",
      tabindex: 0,
      "aria-label": "Place in the exam",
      "aria-valuenow": 0,
      "aria-valuemin": 0,
      "aria-valuemax": 1,
    },
    names,
    canvas,
    score,
    scoreName,
    line,
  );
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const plot = makeScorePlot(score, session);

  const draw = (): void => {
    if (!stale) return;
    stale = false;
    const ratio = devicePixelRatio;
    const height = lanesHeight(heads.length);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    drawLanes(context, session, session.reading.value, view, width, screen.event.value);
    moveLine();
  };
  let request = 0;
  const later = (): void => {
    stale = true;
    cancelAnimationFrame(request);
    request = requestAnimationFrame(draw);
  };

  const position = (): number => {
    const { head, frame } = screen.here();
    return session.positions.get(head)?.[frame] ?? 0;
  };

  const moveLine = (): void => {
    const x = toPixel(view, position(), width);
    line.hidden = x < 0 || x > width;
    line.style.transform = `translateX(${GUTTER + x}px)`;
  };

  const look = (next: View): void => {
    view = next;
    plot.setView(view);
    later();
  };

  const frameAt = (clientX: number): number => {
    const x = clientX - element.getBoundingClientRect().left - GUTTER;
    const wanted = toPosition(view, Math.min(Math.max(x, 0), width), width);
    return nearest(session.positions.get(screen.head.value) as Float64Array, wanted);
  };

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    screen.player.play(0);
    const box = element.getBoundingClientRect();
    const place = eventUnder(event.clientX - box.left - GUTTER, event.clientY - box.top);
    if (place >= 0) return screen.choose(place);
    let wanted = frameAt(event.clientX);
    let dragged = false;
    screen.jump(screen.head.value, wanted, false);
    const drag = (move: PointerEvent): void => {
      const next = frameAt(move.clientX);
      if (next === wanted) return;
      dragged = true;
      wanted = next;
      screen.drag(screen.head.value, wanted);
    };
    element.addEventListener("pointermove", drag);
    const drop = (): void => {
      element.removeEventListener("pointermove", drag);
      element.removeEventListener("pointerup", drop);
      element.removeEventListener("pointercancel", drop);
      if (dragged) screen.jump(screen.head.value, wanted, false);
    };
    element.addEventListener("pointerup", drop);
    element.addEventListener("pointercancel", drop);
  });

  const eventUnder = (x: number, y: number): number => {
    const head = heads[eventLane(y)]?.head;
    return session.events.findIndex((event) => {
      if (event.head !== head) return false;
      const positions = session.positions.get(event.head) as Float64Array;
      const left = toPixel(view, positions[event.first_frame] as number, width);
      const right = toPixel(view, positions[event.last_frame] as number, width);
      return x >= left - 4 && x <= right + 4;
    });
  };

  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const along = event.shiftKey ? event.deltaY : event.deltaX;
      if (Math.abs(along) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
        return look(pan(view, (along / width) * span(view), whole));
      }
      const x = event.clientX - element.getBoundingClientRect().left - GUTTER;
      zoomAround(toPosition(view, x, width), Math.exp(event.deltaY / 300));
    },
    { passive: false },
  );
  element.addEventListener("dblclick", () => look(whole));

  const zoomAround = (around: number, factor: number): void =>
    look(zoom(view, around, factor, whole, session.hasTimes ? LEAST.seconds : LEAST.frames));

  const resize = new ResizeObserver(() => {
    width = Math.max(Math.floor(element.clientWidth - GUTTER - MARGIN), 50);
    plot.resize(width);
    later();
  });
  resize.observe(element);
  clean.add(() => resize.disconnect());

  clean.add(session.reading.subscribe(later));
  clean.add(screen.event.subscribe(later));
  clean.add(
    screen.head.subscribe((head) => {
      plot.setHead(head);
      if (heads.length > 1) scoreName.textContent = `score, head ${head}`;
      later();
    }),
  );
  clean.add(
    screen.player.drawn.subscribe(() => {
      const at = position();
      const moved = follow(view, at, whole);
      if (moved !== view) look(moved);
      moveLine();
      sayValue();
    }),
  );
  clean.add(screen.player.playing.subscribe(() => sayValue()));
  // Not during playback: a screen reader would read thirty values a second.
  function sayValue(): void {
    if (screen.player.playing.value !== 0 || screen.player.drawn.value === null) return;
    const { head, frame } = screen.here();
    const last = (session.columns.get(head)?.frames ?? 1) - 1;
    const time = session.hasTimes ? `, ${clock(position())} of ${clock(whole.high)}` : "";
    element.setAttribute("aria-valuemax", String(last));
    element.setAttribute("aria-valuenow", String(frame));
    element.setAttribute("aria-valuetext", `frame ${frame} of ${last + 1}${time}`);
  }
  const ticking = setInterval(later, 1500); // the lane of what was seen grows while one reads
  clean.add(() => clearInterval(ticking));
  document.addEventListener("themechange", later);
  clean.add(() => document.removeEventListener("themechange", later));
  plot.setView(view);

  return {
    element,
    zoomBy: (factor) => zoomAround(position(), factor),
    showAll: () => look(whole),
    setThreshold: (threshold) => plot.setThreshold(threshold),
    close() {
      cancelAnimationFrame(request);
      clean.clean();
      plot.close();
    },
  };
}

function wholeOf(session: Session): View {
  let [low, high] = [Infinity, -Infinity];
  for (const positions of session.positions.values()) {
    if (positions.length === 0) continue;
    low = Math.min(low, positions[0] as number);
    high = Math.max(high, positions[positions.length - 1] as number);
  }
  return high > low ? { low, high } : { low: Number.isFinite(low) ? low : 0, high: (Number.isFinite(low) ? low : 0) + 1 };
}
