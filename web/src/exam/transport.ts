// The bar under the frame: play, speed, mode, heads, picture.

import { button, cleaner, fill, h } from "../dom.ts";
import { withKeys } from "../keymap.ts";
import type { Mode } from "../model/sequence.ts";
import { clock, count } from "../model/words.ts";
import type { Screen } from "./screen.ts";
import type { Session } from "./session.ts";

export interface Transport {
  element: HTMLElement;
  /** Where we are, in words. */
  where: HTMLElement;
  /** Which heads are shown. */
  heads: HTMLElement;
  close(): void;
}

const MODES: readonly (readonly [Mode, string, string])[] = [
  ["all", "All", withKeys("Every frame of the exam", "mode")],
  ["flagged", "Flagged", withKeys("Frames that the sieve flagged", "mode")],
  ["to read", "To read", withKeys("Flagged frames without near-duplicates", "mode")],
];

export function makeTransport(session: Session, screen: Screen, picture: HTMLElement): Transport {
  const clean = cleaner();
  const { player } = screen;
  const icon = (sign: string, label: string, id: string, run: () => void): HTMLButtonElement =>
    h("button", { type: "button", class: "icon", "aria-label": label, title: withKeys(label, id), onclick: run }, sign);

  const back = icon("◀", "Play backwards", "backwards", () => player.play(player.playing.value === -1 ? 0 : -1));
  const forward = icon("▶", "Play", "toggle", () => player.play(player.playing.value === 1 ? 0 : 1));
  const fps = h("input", {
    type: "range",
    min: 1,
    max: 30,
    step: 1,
    "aria-label": "Frames per second",
    title: withKeys("Frames per second", "faster", "slower"),
  });
  fps.addEventListener("input", () => screen.setFps(fps.valueAsNumber));
  const rate = h("span", { class: "rate" });
  const where = h("span", { class: "where" });
  const modes = MODES.map(([mode, words, title]) =>
    button(words, () => screen.setMode(mode), { title, pressed: false }),
  );
  const heads = h("span", { class: "group heads", role: "group", "aria-label": "Heads" });
  const element = h(
    "section",
    { class: "transport", "aria-label": "Playback" },
    h(
      "span",
      { class: "group", role: "group", "aria-label": "Play" },
      back,
      icon("‹", "One frame back", "previous", () => player.by(-1)),
      icon("›", "One frame on", "next", () => player.by(1)),
      forward,
    ),
    h("label", { class: "speed" }, fps, rate),
    h("span", { class: "group", role: "group", "aria-label": "Which frames" }, ...modes),
    h("span", { class: "gap" }),
    picture,
  );

  clean.add(
    player.playing.subscribe((direction) => {
      forward.textContent = direction === 1 ? "❚❚" : "▶";
      back.textContent = direction === -1 ? "❚❚" : "◀";
      forward.setAttribute("aria-label", direction === 1 ? "Stop" : "Play");
      back.setAttribute("aria-label", direction === -1 ? "Stop" : "Play backwards");
    }),
  );
  const showRate = (): void => {
    const wanted = screen.fps.value;
    const real = player.measured();
    const slow = player.playing.value !== 0 && real > 0 && real < 0.85 * wanted;
    rate.textContent = slow ? `${Math.round(real)} of ${wanted} fps` : `${wanted} fps`;
    rate.classList.toggle("trouble", slow);
    rate.title = slow ? "Frames come late: playback slows down, and skips none." : "";
  };
  clean.add(
    screen.fps.subscribe((value) => {
      fps.value = String(value);
      showRate();
    }),
  );
  const ticking = setInterval(showRate, 500);
  clean.add(() => clearInterval(ticking));
  clean.add(
    screen.mode.subscribe((mode) => {
      MODES.forEach(([one], i) => modes[i]?.setAttribute("aria-pressed", String(one === mode)));
    }),
  );
  const showHeads = (): void => {
    if (session.exam.heads.length < 2) return;
    const both = screen.both.value;
    fill(
      heads,
      ...session.exam.heads.map(({ head }) =>
        button(`Head ${head}`, () => {
          screen.setHead(head);
          screen.setBoth(false);
        }, { pressed: !both && screen.head.value === head, title: withKeys(`Head ${head} alone`, "both") }),
      ),
      button("Both", () => screen.setBoth(true), { pressed: both, title: withKeys("Side by side, kept in step by time", "both") }),
    );
  };
  clean.add(screen.head.subscribe(showHeads));
  clean.add(screen.both.subscribe(showHeads));
  const showWhere = (): void => {
    const shown = player.shown.value;
    if (shown === null) return;
    const { head, frame } = screen.here();
    const time = session.hasTimes ? clock(session.positions.get(head)?.[frame] ?? NaN) : "";
    const sequence = player.sequence();
    const all = session.columns.get(head)?.frames ?? 0;
    const left =
      screen.mode.value === "all" ? `of ${count(all - 1)}` : `· ${count(shown.step + 1)} of ${count(sequence.length)}`;
    const name = session.exam.heads.length > 1 ? h("b", {}, `head ${head}  `) : null;
    fill(where, name, h("b", {}, time), ` frame ${count(frame)} `, h("span", { class: "soft" }, left));
  };
  clean.add(player.shown.subscribe(showWhere));
  clean.add(screen.head.subscribe(showWhere));
  return { element, where, heads, close: () => clean.clean() };
}
