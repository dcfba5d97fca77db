// The exam page: puts the parts together, and takes them apart again.

import { effect, signal } from "@preact/signals";
import type { Room } from "../api/types.ts";
import { announcePlace } from "../announce.ts";
import { dialogOpen, toast } from "../dialog.ts";
import { cleaner, h } from "../dom.ts";
import { commandOf, keyName } from "../keymap.ts";
import { decisionOn, findingOf } from "../model/events.ts";
import { shows } from "../model/subjects.ts";
import { clock, DECISIONS } from "../model/words.ts";
import type { Saver } from "../saving/saver.ts";
import { keep, settings } from "../settings.ts";
import { openConsensus } from "../dialogs/consensus.tsx";
import { placeAddress, readAddress } from "./address.ts";
import { makeCommands } from "./commands.ts";
import { decisionBar } from "./decisionbar.tsx";
import { makeDecisions } from "./decisions.ts";
import { makeExplainer } from "./evidence.ts";
import { keepViewed } from "./keeping.ts";
import { closeMenu, menuKey } from "./menu.ts";
import { aboutPanel } from "./panel/about.tsx";
import { findingsPanel } from "./panel/findings.tsx";
import { makeTabs } from "./panel/tabs.ts";
import { whyPanel, type Overlays } from "./panel/why.tsx";
import { NEUTRAL, type Adjustment } from "./picture.ts";
import { makeScreen, type Screen } from "./screen.ts";
import { eventOf, openSession, watchScreening, type Session } from "./session.ts";
import { makeStage } from "./stage.ts";
import { eventStrip } from "./strip.tsx";
import { makeTimeline } from "./timeline/timeline.ts";
import { topBar } from "./topbar.tsx";
import { headChoice, transport } from "./transport.tsx";

export interface ExamPage {
  element: HTMLElement;
  exam: string;
  key(event: KeyboardEvent): boolean;
  refresh(): void;
  poll(): Promise<void>;
  close(): void;
}

/** How long a place is at rest before the address names it. */
const REST = 300;

export async function examPage(name: string, room: Room, saver: Saver): Promise<ExamPage> {
  const asked = readAddress(location.hash)?.place ?? null;
  const session = await openSession(name, room, saver);
  const clean = cleaner();
  const adjustment = signal<Adjustment>(NEUTRAL);
  const overlays = signal<Overlays>({ place: true, shapes: settings().overlay, map: null });
  const explainer = makeExplainer(name);
  const stage = makeStage(session, explainer, overlays, adjustment);
  const screen = makeScreen(session, stage.show, () => stage.zoomBy(0));
  const keeper = keepViewed(session, screen); // before what shows which frames were displayed
  clean.add(keeper.close);
  const decisions = makeDecisions(session, screen);
  stage.attach(screen, decisions);
  const run = (command: string): void => commands[command]?.();
  const timeline = makeTimeline(session, screen);
  const strip = eventStrip({ session, screen });
  const heads = headChoice({ session, screen });
  stage.element.append(heads.element);
  const why = whyPanel({ session, screen, explainer, overlays });
  const findings = findingsPanel({ session, screen, decisions, menu: run });
  const about = aboutPanel({ session, screen, decisions });
  const tabs = makeTabs([
    { name: "Why", key: "1", element: why.element },
    { name: "Findings", key: "2", element: findings.element },
    { name: "Exam", key: "3", element: about.element },
  ]);
  const choice = decisionBar({ session, screen, decisions, back: () => run("back") });
  const playback = transport({ session, screen, adjustment });
  const bar = topBar({ session, screen, decisions, run });
  for (const part of [stage, timeline, strip, heads, playback, why, findings, about, choice, bar, explainer, screen]) {
    clean.add(() => part.close());
  }
  clean.add(watchScreening(session));

  const element = h(
    "main",
    { class: "exam" },
    bar.element,
    h("p", { class: "toosmall" }, "Reading needs a larger screen. Here you can look at findings, and get the report under Exam."),
    strip.element,
    h("section", { class: "middle", "aria-label": "Frame" }, stage.element, choice.element, playback.element),
    tabs.element,
    timeline.element,
  );

  const desk = {
    session, screen, keeper, decisions, tabs, timeline, adjustment, overlays,
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
    explainer.ask(screen.player.playing.value === 0 && screen.player.drawn.value && watchesEvidence() ? screen.here() : null);
  };
  tabs.onopen = explain;
  clean.add(screen.player.drawn.subscribe(explain));
  clean.add(screen.player.playing.subscribe(explain));
  clean.add(screen.head.subscribe(explain));
  clean.add(
    overlays.subscribe(({ shapes }) => {
      keep({ overlay: shapes });
      explain();
    }),
  );
  clean.add(
    session.finding.subscribe((id) => {
      closeMenu(); // its menu speaks of the finding that was open
      if (id !== null) tabs.open("Findings");
    }),
  );
  clean.add(closeFindings(session, screen));
  clean.add(session.reading.subscribe(({ state }) => void element.classList.toggle("signed", state === "signed")));
  clean.add(announcePlaces(session, screen));
  clean.add(focusPicture(element, stage.element));
  clean.add(
    effect(() => {
      const { head, frame } = screen.here();
      const place = { head, frame, mode: screen.mode.value, zoom: stage.zoom.value, both: screen.both.value || session.exam.heads.length < 2 };
      if (!screen.settled.value || screen.player.playing.value !== 0) return;
      const timer = setTimeout(() => history.replaceState(null, "", placeAddress(name, place)), REST);
      return () => clearTimeout(timer);
    }),
  );
  queueMicrotask(() => {
    const head = session.exam.heads.find((one) => one.head === asked?.head);
    if (asked && head && asked.frame < head.frames) {
      if (!asked.both) screen.setBoth(false);
      if (asked.mode !== "all") screen.setMode(asked.mode);
      stage.zoom.value = asked.zoom;
      screen.jump(asked.head, asked.frame);
    } else if (session.events.length === 0) return;
    else if (session.reading.value.state === "unread" && room.role !== "consensus") screen.choose(session.list.value[0] ?? 0);
    else commands["nextOpen"]?.();
  });

  return {
    element,
    exam: name,
    key(event) {
      if (dialogOpen()) return false;
      let target = event.target as HTMLElement;
      // A field of a dialog that was just closed keeps the focus for a moment.
      if (target.closest("dialog")) target = document.body;
      const key = keyName(event);
      if (["Shift", "Control", "Alt", "Meta"].includes(event.key)) return false;
      if (takesKey(target, key)) return false;
      if (target.matches(TEXT) && key === "Esc") {
        target.blur();
        return true;
      }
      if (menuKey(event.key === "Escape" ? "Esc" : event.key)) return true;
      const command = commandOf(event);
      if (command === undefined) return false;
      if (!event.repeat || command.held) commands[command.id]?.();
      return true;
    },
    poll: session.poll,
    refresh: () => void session.refresh().catch((error: Error) => toast(error.message, true)),
    close() {
      closeMenu();
      clean.clean();
    },
  };
}

/** Close the open finding if the drawn frame is none of its frames: keys reach only what is on the screen. */
function closeFindings({ reading, finding, events }: Session, screen: Screen): () => void {
  return effect(() => {
    void screen.player.drawn.value;
    const { head, frame } = screen.here();
    const subject = finding.peek();
    const open = reading.peek().findings.find(({ content }) => content.subject === subject);
    if (subject === null || (open !== undefined && shows(open.content, head, frame))) return;
    const event = events[screen.event.value];
    finding.value = (event && findingOf(reading.peek(), event)?.content.subject) ?? null;
  });
}

/** What a screen reader hears when the reader rests on a frame. */
function announcePlaces(session: Session, screen: Screen): () => void {
  return effect(() => {
    if (screen.player.drawn.value === null || screen.player.playing.value !== 0) return;
    const { head, frame } = screen.here();
    const parts = [`Frame ${frame}`];
    if (session.exam.heads.length > 1) parts.push(`head ${head}`);
    if (session.hasTimes) parts.push(clock(session.positions.get(head)?.[frame] ?? NaN));
    const event = eventOf(session, head, frame);
    if (event) {
      const decision = decisionOn(session.reading.peek(), event);
      parts.push(`event ${session.events.indexOf(event) + 1}`, decision ? DECISIONS[decision].words : "no decision");
    }
    announcePlace(parts.join(", "));
  });
}

const TEXT = "textarea, input:not([type=range]):not([type=checkbox])";

/** Whether a control that has the focus takes a key itself. Letters never reach a list. */
function takesKey(target: HTMLElement, key: string): boolean {
  if (target.matches(TEXT)) return key !== "Esc";
  if (target.matches("button, summary, input[type=checkbox]")) return key === "Space" || (key === "Enter" && !target.matches("input"));
  if (target.matches("a")) return key === "Enter";
  return target.matches("input[type=range]") && /^(←|→|↑|↓|Home|End)$/.test(key);
}

/** After a click with the pointer the focus returns to the picture; a control reached by Tab keeps it. */
function focusPicture(page: HTMLElement, picture: HTMLElement): () => void {
  picture.tabIndex = -1;
  let pointer = false;
  const pressed = (): void => void (pointer = true);
  const typed = (): void => void (pointer = false);
  // Before the handlers of the click: a dialog that one of them opens returns the focus to the picture.
  const clicked = (event: Event): void => {
    if (pointer && !(event.target as HTMLElement).matches(TEXT)) picture.focus({ preventScroll: true });
  };
  page.addEventListener("pointerdown", pressed, true);
  page.addEventListener("keydown", typed, true);
  page.addEventListener("click", clicked, true);
  page.addEventListener("change", clicked, true);
  // Removed together with the page.
  return () => void (pointer = false);
}
