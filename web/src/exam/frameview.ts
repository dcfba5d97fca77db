// One head's frame, large: the picture on one canvas, marks on another above it.

import { h } from "../dom.ts";
import type { Picture } from "../play/frames.ts";
import { drawMarks, type Fit, type Marks } from "./overlay.ts";

export interface Zoom {
  factor: number;
  /** The point of the frame in the middle of the view, as shares of its width and height. */
  x: number;
  y: number;
}

export const WHOLE: Zoom = { factor: 1, x: 0.5, y: 0.5 };

export interface FrameView {
  element: HTMLElement;
  show(picture: Picture, caption: string): void;
  setMarks(marks: Marks): void;
  setZoom(zoom: Zoom): void;
  setFilter(css: string): void;
  setChosen(chosen: boolean): void;
  setDecision(words: string, kind: string): void;
  close(): void;
}

export interface FrameViewEvents {
  zoomed(zoom: Zoom): void;
  chosen(): void;
  /** Shift and click: a place on the frame, in its own pixels. */
  placed(row: number, col: number): void;
}

export function makeFrameView(label: string, events: FrameViewEvents): FrameView {
  const picture = h("canvas", { class: "picture", "aria-hidden": "true" });
  const above = h("canvas", { class: "above", "aria-hidden": "true" });
  const caption = h("div", { class: "caption" });
  const decision = h("div", { class: "said" });
  const trouble = h("div", { class: "nopicture", hidden: true });
  const element = h("figure", { class: "frame", role: "img", "aria-label": label }, picture, above, trouble, caption, decision);
  const paint = picture.getContext("2d", { alpha: false }) as CanvasRenderingContext2D;
  const mark = above.getContext("2d") as CanvasRenderingContext2D;
  let last: Picture | null = null;
  let marks: Marks = { evidence: null, map: null, pointed: null, places: [] };
  let zoom = WHOLE;
  let rows = 1;
  let cols = 1;

  const fit = (): Fit => {
    const scale = Math.min(picture.width / cols, picture.height / rows) * zoom.factor;
    return {
      scale,
      left: picture.width / 2 - zoom.x * cols * scale,
      top: picture.height / 2 - zoom.y * rows * scale,
    };
  };

  const redraw = (): void => {
    paint.fillStyle = "#000";
    paint.fillRect(0, 0, picture.width, picture.height);
    const bitmap = last?.bitmap ?? null;
    if (bitmap !== null && bitmap.width > 0) {
      const { left, top, scale } = fit();
      paint.imageSmoothingQuality = "high";
      paint.drawImage(bitmap, left, top, cols * scale, rows * scale);
    }
    remark();
  };

  const remark = (): void => {
    mark.clearRect(0, 0, above.width, above.height);
    drawMarks(mark, fit(), marks, { rows, cols }, devicePixelRatio);
  };

  const resize = new ResizeObserver(() => {
    const box = element.getBoundingClientRect();
    for (const canvas of [picture, above]) {
      canvas.width = Math.max(Math.round(box.width * devicePixelRatio), 1);
      canvas.height = Math.max(Math.round(box.height * devicePixelRatio), 1);
    }
    redraw();
  });
  resize.observe(element);

  const at = (event: MouseEvent): { x: number; y: number } => {
    const box = element.getBoundingClientRect();
    const { left, top, scale } = fit();
    return {
      x: ((event.clientX - box.left) * devicePixelRatio - left) / (cols * scale),
      y: ((event.clientY - box.top) * devicePixelRatio - top) / (rows * scale),
    };
  };

  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const factor = Math.min(Math.max(zoom.factor * Math.exp(-event.deltaY / 400), 1), 12);
      const point = at(event);
      const keep = zoom.factor / factor; // the point under the pointer stays there
      const moved = { x: point.x + (zoom.x - point.x) * keep, y: point.y + (zoom.y - point.y) * keep };
      events.zoomed(factor === 1 ? WHOLE : { factor, ...moved });
    },
    { passive: false },
  );
  element.addEventListener("pointerdown", (event) => {
    events.chosen();
    if (event.button !== 0) return;
    const start = at(event);
    if (event.shiftKey) {
      if (start.x >= 0 && start.x < 1 && start.y >= 0 && start.y < 1) {
        events.placed(start.y * rows - 0.5, start.x * cols - 0.5);
      }
      return;
    }
    element.setPointerCapture(event.pointerId);
    const drag = (move: PointerEvent): void => {
      if (zoom.factor === 1) return;
      const now = at(move);
      events.zoomed({ ...zoom, x: zoom.x - (now.x - start.x), y: zoom.y - (now.y - start.y) });
    };
    const drop = (): void => element.removeEventListener("pointermove", drag);
    element.addEventListener("pointermove", drag);
    element.addEventListener("pointerup", drop, { once: true });
    element.addEventListener("pointercancel", drop, { once: true });
  });
  element.addEventListener("dblclick", () => events.zoomed(WHOLE));

  return {
    element,
    show(next, words) {
      last = next;
      if (next.bitmap !== null) {
        rows = next.bitmap.height;
        cols = next.bitmap.width;
      }
      trouble.hidden = next.bitmap !== null;
      trouble.textContent = next.sentence ?? "";
      caption.textContent = words;
      marks = { ...marks, evidence: null, map: null, pointed: null };
      redraw();
    },
    setMarks(next) {
      marks = next;
      remark();
    },
    setZoom(next) {
      zoom = next;
      redraw();
    },
    setFilter: (css) => void (picture.style.filter = css),
    setChosen: (chosen) => void element.classList.toggle("chosen", chosen),
    setDecision(words, kind) {
      decision.textContent = words;
      decision.className = `said ${kind}`;
    },
    close: () => resize.disconnect(),
  };
}
