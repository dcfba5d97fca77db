// Why this frame was flagged or rejected: words, values with their bounds, overlays.

import type { Evidence } from "../../api/types.ts";
import { button, fill, h } from "../../dom.ts";
import type { Signal } from "@preact/signals";
import { REASONS, value } from "../../model/words.ts";
import type { Explainer, Known } from "../evidence.ts";
import type { Screen } from "../screen.ts";
import type { Session } from "../session.ts";

export interface Overlays {
  shapes: boolean;
  map: string | null;
}

export function whyPanel(
  session: Session,
  screen: Screen,
  explainer: Explainer,
  overlays: Signal<Overlays>,
): { element: HTMLElement; close(): void } {
  const element = h("div", { class: "why" });

  const show = (): void => {
    const known = explainer.known.value;
    const { head, frame } = screen.here();
    fill(
      element,
      h("p", { class: "verdictline" }, summary(session, head, frame)),
      ...body(known),
      controls(known),
    );
  };

  const body = (known: Known): Node[] => {
    if (known.state === "asking") return [h("p", { class: "soft" }, "Asking the detector …")];
    if (known.state === "trouble") return [h("p", { class: "trouble" }, known.sentence)];
    if (known.state === "none") return [h("p", { class: "soft" }, "Stop on a frame to see why.")];
    const { words, values } = known.evidence;
    return [
      ...words.map((sentence) => h("p", {}, sentence)),
      values.length ? valueTable(values) : h("span"),
    ];
  };

  const controls = (known: Known): HTMLElement => {
    const now = overlays.value;
    const maps = known.state === "known" ? known.evidence.maps : [];
    return h(
      "div",
      { class: "overlays", role: "group", "aria-label": "Over the frame" },
      h("h3", {}, "Over the frame"),
      button("Balls and ellipses", () => (overlays.value = { ...now, shapes: !now.shapes }), { pressed: now.shapes, key: "V" }),
      ...maps.map((map) =>
        button(`Map: ${map}`, () => (overlays.value = { ...now, map: now.map === map ? null : map }), {
          pressed: now.map === map,
          key: "X",
        }),
      ),
      now.shapes
        ? h(
            "p",
            { class: "small soft legend" },
            h("span", { class: "sign ball" }), " best ball ",
            h("span", { class: "sign other" }), " other balls ",
            h("span", { class: "sign ellipse" }), " raised spot ",
            h("span", { class: "sign fallen" }), " ruled out",
          )
        : null,
    );
  };

  const stops = [explainer.known.subscribe(show), overlays.subscribe(show), screen.player.shown.subscribe(show)];
  return { element, close: () => stops.forEach((stop) => stop()) };
}

function summary(session: Session, head: number, frame: number): string {
  const table = session.columns.get(head);
  if (!table) return "";
  if (table.status[frame] === 1) return "This frame cannot be decoded.";
  if (table.status[frame] === 2) return "This frame was not screened.";
  const reason = table.reasons[table.reason[frame] as number] ?? "";
  const unlisted = reason === "score-low" && session.exam.reading_list;
  const words = unlisted ? "not on the reading list" : (REASONS[reason] ?? reason);
  const earlier = table.duplicate_of[frame] as number;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.${earlier >= 0 ? ` Near-duplicate of frame ${earlier}.` : ""}`;
}

function valueTable(values: Evidence["values"]): HTMLElement {
  return h(
    "table",
    { class: "values" },
    h("caption", {}, "Values and the bounds they are held against"),
    h(
      "tbody",
      {},
      ...values.map((one) =>
        h(
          "tr",
          { class: one.holds ? "" : "fails" },
          h("th", { scope: "row" }, one.words, h("span", { class: "soft small" }, ` ${one.name}`)),
          h("td", { class: "number" }, value(one.value)),
          h("td", { class: "soft small" }, bounds(one.low, one.high)),
          h("td", { title: one.holds ? "holds" : "does not hold" }, one.holds ? "✓" : "✕"),
        ),
      ),
    ),
  );
}

function bounds(low: number | null, high: number | null): string {
  if (low !== null && high !== null) return `${value(low)} to ${value(high)}`;
  if (low !== null) return `at least ${value(low)}`;
  if (high !== null) return `at most ${value(high)}`;
  return "";
}
