// The place of the frames: one head, or two side by side; zoom, filter, marks and captions.

import { cleaner, h } from "../dom.ts";
import type { Signal } from "@preact/signals";
import { frameSubject } from "../model/subjects.ts";
import { clock, count, VERDICTS } from "../model/words.ts";
import type { Picture, Spot } from "../play/frames.ts";
import { adjustmentWords, cssFilter, type Adjustment } from "./adjust.ts";
import type { Deciding } from "./deciding.ts";
import type { Explainer } from "./evidence.ts";
import { makeFrameView, WHOLE, type FrameView, type Zoom } from "./frameview.ts";
import type { Overlays } from "./panel/why.ts";
import type { Screen } from "./screen.ts";
import type { Session } from "./session.ts";

export interface Stage {
  element: HTMLElement;
  show(spots: Spot[], pictures: Picture[]): void;
  /** The rest of the page, which is made after the stage. */
  attach(screen: Screen, deciding: Deciding): void;
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
  let deciding: Deciding | null = null;
  let zoom = WHOLE;

  const setZoom = (next: Zoom): void => {
    zoom = next;
    for (const view of views.values()) view.setZoom(zoom);
  };
  const place = (head: number, row: number, col: number): void => {
    const id = session.finding.value;
    const finding = session.reading.value.findings.find(({ content }) => content.subject === id)?.content;
    if (finding === undefined || finding.best.head !== head) return;
    deciding?.change(finding.subject, { place: { row, col } });
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
    return `${name}${time}frame ${count(frame)}${flagged}`;
  };

  let generation = 0;
  const mark = async (): Promise<void> => {
    const mine = ++generation;
    const known = explainer.known.value;
    const { shapes, map } = overlays.value;
    for (const [head, view] of views) {
      const frame = screen?.player.shown.value?.spots.find((spot) => spot.head === head)?.frame;
      const here = known.state === "known" && known.spot.head === head && known.spot.frame === frame ? known : null;
      const places = session.reading
        .value
        .findings.map(({ content }) => content)
        .filter(({ best, place }) => best.head === head && best.frame === frame && place)
        .map(({ subject, place }) => ({ ...(place as { row: number; col: number }), chosen: subject === session.finding.value }));
      const evidence = here && shapes ? here.evidence : null;
      view.setMarks({ evidence, map: null, places });
      if (here === null || map === null || !here.evidence.maps.includes(map)) continue;
      const bitmap = await explainer.map(here.spot, map);
      if (mine === generation) view.setMarks({ evidence, map: bitmap, places });
    }
  };
  const verdicts = (): void => {
    for (const [head, view] of views) {
      const frame = screen?.player.shown.value?.spots.find((spot) => spot.head === head)?.frame;
      const said = frame === undefined ? null : session.reading.value.decisions[frameSubject(head, frame)]?.content.decision;
      view.setVerdict(said ? `${VERDICTS[said].sign} frame ${VERDICTS[said].words}` : "", said ?? "");
    }
  };

  return {
    element,
    show(spots, pictures) {
      for (const [head, view] of views) view.element.hidden = !spots.some((spot) => spot.head === head);
      spots.forEach((spot, i) => {
        const picture = pictures[i];
        if (picture) views.get(spot.head)?.show(picture, caption(spot));
      });
    },
    attach(nextScreen, nextDeciding) {
      screen = nextScreen;
      deciding = nextDeciding;
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
          verdicts();
          void mark();
        }),
        screen.player.shown.subscribe(() => {
          verdicts();
          void mark();
        }),
        screen.head.subscribe((head) => {
          for (const [one, view] of views) view.setChosen(one === head && views.size > 1);
        }),
      ]) clean.add(stop);
    },
    zoomBy: (factor) => setZoom(factor === 0 ? WHOLE : { ...zoom, factor: Math.min(zoom.factor * factor, 12) }),
    close: () => clean.clean(),
  };
}
