// The exam page: puts the parts together, and takes them apart again.

import type { Room } from "../api/types.ts";
import { dialogOpen, toast } from "../dialog.ts";
import { createElement } from "preact";
import { SaveState } from "../dialogs/savestate.tsx";
import { cleaner, h, mounted } from "../dom.ts";
import { signal } from "@preact/signals";
import { commandOf, keyName } from "../keymap.ts";
import type { Saver } from "../saving/saver.ts";
import { keep, settings } from "../settings.ts";
import { filterElement, makeAdjustment } from "./adjust.ts";
import { chordKey, closeChord } from "./chords.ts";
import { makeCommands } from "./commands.ts";
import { openConsensus } from "../dialogs/consensus.tsx";
import { makeDeciding } from "./deciding.ts";
import { leaveFindings } from "./findings.ts";
import { makeExplainer } from "./evidence.ts";
import { keepLedger } from "./keeping.ts";
import { aboutPanel } from "./panel/about.tsx";
import { findingsPanel } from "./panel/findings.ts";
import { makeTabs } from "./panel/tabs.ts";
import { thresholdPanel } from "./panel/threshold.ts";
import { whyPanel, type Overlays } from "./panel/why.ts";
import { pictureControls } from "./picture.ts";
import { sayFrames } from "./saying.ts";
import { makeScreen } from "./screen.ts";
import { openSession, watchScreening } from "./session.ts";
import { makeStage } from "./stage.ts";
import { makeStrip } from "./strip.ts";
import { makeTimeline } from "./timeline/timeline.ts";
import { topBar } from "./topbar.ts";
import { makeTransport } from "./transport.ts";
import { verdictBar } from "./verdicts.ts";

export interface ExamPage {
  element: HTMLElement;
  exam: string;
  key(event: KeyboardEvent): boolean;
  refresh(): void;
  close(): void;
}

export async function examPage(name: string, room: Room, saver: Saver, leave: () => void): Promise<ExamPage> {
  const session = await openSession(name, room, saver);
  const clean = cleaner();
  const adjustment = makeAdjustment();
  const overlays = signal<Overlays>({ shapes: settings().overlay, map: null });
  const explainer = makeExplainer(name);
  const stage = makeStage(session, explainer, overlays, adjustment);
  const screen = makeScreen(session, (spots, pictures) => stage.show(spots, pictures));
  const keeper = keepLedger(session, screen); // before what shows which frames were displayed
  clean.add(keeper.close);
  const deciding = makeDeciding(session, screen);
  stage.attach(screen, deciding);
  const timeline = makeTimeline(session, screen);
  const strip = makeStrip(session, screen);
  const transport = makeTransport(session, screen, pictureControls(adjustment));
  stage.element.append(transport.heads);
  const why = whyPanel(session, screen, explainer, overlays);
  const findings = findingsPanel(session, screen, deciding);
  const about = aboutPanel(session, screen, deciding);
  const threshold = thresholdPanel(session, (value) => timeline.setThreshold(value));
  const tabs = makeTabs([
    { name: "Why", key: "1", element: why.element },
    { name: "Findings", key: "2", element: findings.element },
    { name: "Exam", key: "3", element: about },
    { name: "Threshold", key: "4", element: threshold.element },
  ]);
  const verdicts = verdictBar(session, screen, deciding, transport.where);
  for (const part of [stage, timeline, strip, transport, why, findings, threshold, verdicts]) {
    clean.add(() => part.close());
  }
  clean.add(() => explainer.close());
  clean.add(() => screen.player.close());
  clean.add(watchScreening(session));

  const late = h("span", { class: "late", hidden: true }, "waiting for frames …");
  const bar = topBar(session, deciding, [late], {
    save: mounted(createElement(SaveState, { room, saver })),
    sign: () => commands["sign"]?.(false),
    differences: () => commands["differences"]?.(false),
  });
  clean.add(() => bar.close());
  const element = h(
    "main",
    { class: "exam" },
    bar.element,
    h("p", { class: "toosmall" }, "Reading needs a larger screen. Here you can look at findings, and get the report under Exam."),
    strip.element,
    h("section", { class: "middle", "aria-label": "Frame" }, stage.element, verdicts.element, transport.element),
    tabs.element,
    timeline.element,
    filterElement() as unknown as HTMLElement,
  );

  const desk = {
    session, screen, keeper, deciding, tabs, timeline, adjustment, overlays, leave,
    maps: () => {
      const known = explainer.known.value;
      return known.state === "known" ? known.evidence.maps : [];
    },
    zoomBy: (factor: number) => stage.zoomBy(factor),
    differences: () => void openConsensus(session, screen),
  };
  const commands = makeCommands(desk);

  const watchesEvidence = (): boolean => tabs.current() === "Why" || overlays.value.shapes || overlays.value.map !== null;
  const explain = (): void => {
    explainer.ask(screen.player.playing.value === 0 && screen.player.shown.value && watchesEvidence() ? screen.here() : null);
  };
  tabs.onopen = () => {
    explain();
    if (tabs.current() !== "Threshold") timeline.setThreshold(session.exam.threshold);
  };
  clean.add(screen.player.shown.subscribe(explain));
  clean.add(screen.player.playing.subscribe(explain));
  clean.add(screen.head.subscribe(explain));
  clean.add(
    overlays.subscribe(({ shapes }) => {
      keep({ overlay: shapes });
      explain();
    }),
  );
  clean.add(screen.player.late.subscribe((isLate) => void (late.hidden = !isLate)));
  screen.frames.ontrouble = (sentence) => {
    late.textContent = sentence === null ? "waiting for frames …" : `waiting: ${sentence}`;
  };
  clean.add(
    session.finding.subscribe((id) => {
      closeChord(); // its menu speaks of the finding that was open
      if (id !== null) tabs.open("Findings");
    }),
  );
  clean.add(leaveFindings(session, screen));
  clean.add(session.reading.subscribe(({ state }) => void element.classList.toggle("signed", state === "signed")));
  clean.add(sayFrames(session, screen));
  if (session.reading.value.state === "unread" && room.role !== "consensus" && session.events.length > 0) queueMicrotask(() => screen.choose(0));
  else if (session.events.length > 0) queueMicrotask(() => commands["nextOpen"]?.(false));

  return {
    element,
    exam: name,
    key(event) {
      if (dialogOpen()) return false;
      const target = event.target as HTMLElement;
      const key = keyName(event);
      if (typing(target)) {
        if (key === "Esc") target.blur();
        return key === "Esc";
      }
      if (["Shift", "Control", "Alt", "Meta"].includes(event.key)) return false;
      if (chordKey(event.key === "Escape" ? "Esc" : event.key)) return true;
      if (target.matches("button, a, summary") && (key === "Space" || key === "Enter")) return false;
      if (target.matches("input[type=range]") && /^(←|→|↑|↓|Home|End)$/.test(key)) return false;
      const id = commandOf(event);
      if (id === undefined) return false;
      commands[id]?.(event.repeat);
      return true;
    },
    refresh: () => void session.refresh().catch((error: Error) => toast(error.message, true)),
    close() {
      closeChord();
      clean.clean();
    },
  };
}

function typing(target: HTMLElement): boolean {
  return target.matches("textarea, select, input:not([type=range]):not([type=checkbox])");
}

