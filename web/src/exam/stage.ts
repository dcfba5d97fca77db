// The place of the frames: one head, or two side by side; zoom, filter, marks and captions.

import { cleaner, h } from "../dom.ts";
import { signal, type Signal } from "@preact/signals";
import { frameSubject } from "../model/subjects.ts";
import { clock, count, DECISIONS } from "../model/words.ts";
import type { Picture, Spot } from "../play/frames.ts";
import { adjustmentWords, cssFilter, type Adjustment } from "./picture.ts";
import type { Decisions } from "./decisions.ts";
import type { Explainer } from "./evidence.ts";
import { makeFrameView, WHOLE, type FrameView, type Zoom } from "./frameview.ts";
import type { Marks } from "./overlay.ts";
import type { Overlays } from "./panel/why.tsx";
import type { Screen } from "./screen.ts";
import { eventOf, type Session } from "./session.ts";

export interface Stage {
  element: HTMLElement;
  show(spots: Spot[], pictures: Picture[]): void;
  /** The rest of the page, which is made after the stage. */
  attach(screen: Screen, decisions: Decisions): void;
  zoom: Signal<Zoom>;
  /** 0 shows the whole frame. */
  zoomBy(factor: number): void;
  close(): void;
}

export function makeStage(
  session: Session,
  explainer: Explainer,
  overlays: Signal<Overlays>,
  adjustment: Signal<Adjustment>,
): Stage {
  const clean = cleaner();
  const changed = h("div", { class: "changed", hidden: true });
  const element = h("div", { class: "stage" }, changed);
  const views = new Map<number, FrameView>();
  let screen: Screen | null = null;
  let decisions: Decisions | null = null;
  const zoom = signal(WHOLE);
  const setZoom = (next: Zoom): void => void (zoom.value = next);
  const place = (head: number, row: number, col: number): void => {
    const id = session.finding.value;
    const finding = session.reading.value.findings.find(({ content }) => content.subject === id)?.content;
    if (finding === undefined || finding.best.head !== head) return;
    decisions?.change(finding.subject, { place: { row, col } });
  };

  for (const { head } of session.exam.heads) {
    const view = makeFrameView(`Frame of head ${head}`, {
      zoomed: setZoom,
      chosen: () => screen?.setHead(head),
      placed: (row, col) => place(head, row, col),
    });
    view.element.hidden = true;
    views.set(head, view);
    element.append(view.element);
    clean.add(() => view.close());
  }

  const caption = ({ head, frame }: Spot): string => {
    const time = session.hasTimes ? `${clock(session.positions.get(head)?.[frame] ?? NaN)}  ` : "";
    const name = session.exam.heads.length > 1 ? `head ${head}  ` : "";
    const flagged = session.columns.get(head)?.flagged[frame] === 1 ? "  ● flagged" : "";
    const file = session.exam.heads.find((one) => one.head === head)?.files[frame];
    return `${name}${time}frame ${count(frame)}${file ? `  ${file}` : ""}${flagged}`;
  };

  clean.add(zoom.subscribe((next) => views.forEach((view) => view.setZoom(next))));

  /** Where the detector points on the best frame of an event; known without its evidence. */
  const pointedAt = (head: number, frame: number): Marks["pointed"] => {
    const event = eventOf(session, head, frame);
    if (event?.best_frame !== frame || event.row === null || event.col === null || event.radius === null) return null;
    return { row: event.row, col: event.col, radius: event.radius };
  };

  let generation = 0;
  const mark = async (): Promise<void> => {
    const mine = ++generation;
    const known = explainer.known.value;
    const { place, shapes, map } = overlays.value;
    for (const [head, view] of views) {
      const frame = screen?.player.drawn.value?.spots.find((spot) => spot.head === head)?.frame;
      const here = known.state === "known" && known.spot.head === head && known.spot.frame === frame ? known : null;
      const places = session.reading
        .value
        .findings.map(({ content }) => content)
        .filter(({ best, place }) => best.head === head && best.frame === frame && place)
        .map(({ subject, place }) => ({ ...(place as { row: number; col: number }), chosen: subject === session.finding.value }));
      const evidence = here && shapes ? here.evidence : null;
      const pointed = place && evidence === null && frame !== undefined ? pointedAt(head, frame) : null;
      view.setMarks({ evidence, map: null, pointed, places });
      if (here === null || map === null || !here.evidence.maps.includes(map)) continue;
      const bitmap = await explainer.map(here.spot, map);
      if (mine === generation) view.setMarks({ evidence, map: bitmap, pointed, places });
    }
  };
  const showDecisions = (): void => {
    for (const [head, view] of views) {
      const frame = screen?.player.drawn.value?.spots.find((spot) => spot.head === head)?.frame;
      const said = frame === undefined ? null : session.reading.value.decisions[frameSubject(head, frame)]?.content.decision;
      view.setDecision(said ? `${DECISIONS[said].sign} frame ${DECISIONS[said].words}` : "", said ?? "");
    }
  };

  return {
    element,
    zoom,
    show(spots, pictures) {
      for (const [head, view] of views) view.element.hidden = !spots.some((spot) => spot.head === head);
      spots.forEach((spot, i) => {
        const picture = pictures[i];
        if (picture) views.get(spot.head)?.show(picture, caption(spot));
      });
    },
    attach(nextScreen, nextDecisions) {
      screen = nextScreen;
      decisions = nextDecisions;
      clean.add(
        adjustment.subscribe((now) => {
          const words = adjustmentWords(now);
          changed.hidden = words === "";
          changed.textContent = words === "" ? "" : `${words}  (0 switches it off)`;
          for (const view of views.values()) view.setFilter(cssFilter(now));
        }),
      );
      for (const stop of [
        explainer.known.subscribe(() => void mark()),
        overlays.subscribe(() => void mark()),
        session.finding.subscribe(() => void mark()),
        session.reading.subscribe(() => {
          showDecisions();
          void mark();
        }),
        screen.player.drawn.subscribe(() => {
          showDecisions();
          void mark();
        }),
        screen.head.subscribe((head) => {
          for (const [one, view] of views) view.setChosen(one === head && views.size > 1);
        }),
      ]) clean.add(stop);
    },
    zoomBy: (factor) => setZoom(factor === 0 ? WHOLE : { ...zoom.value, factor: Math.min(zoom.value.factor * factor, 12) }),
    close: () => clean.clean(),
  };
}
