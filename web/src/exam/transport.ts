// The bar under the frame: play, speed, mode, heads, picture.

import { button, fill, h } from "../dom.ts";
import { cleaner } from "../emitter.ts";
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
  ["all", "All", "Every frame of the exam"],
  ["flagged", "Flagged", "Frames that the sieve flagged"],
  ["to read", "No copies", "Flagged frames without near copies of others"],
];

export function makeTransport(session: Session, screen: Screen, picture: HTMLElement): Transport {
  const clean = cleaner();
  const { player } = screen;
  const icon = (sign: string, label: string, run: () => void): HTMLButtonElement =>
    h("button", { type: "button", class: "icon", "aria-label": label, title: label, onclick: run }, sign);

  const back = icon("◀", "Play backwards (J)", () => player.play(player.playing.get() === -1 ? 0 : -1));
  const forward = icon("▶", "Play (Space)", () => player.play(player.playing.get() === 1 ? 0 : 1));
  const fps = h("input", { type: "range", min: 1, max: 30, step: 1, "aria-label": "Frames per second" });
  fps.addEventListener("input", () => screen.setFps(fps.valueAsNumber));
  const rate = h("output", { class: "rate" });
  const where = h("output", { class: "where" });
  const modes = MODES.map(([mode, words, title]) =>
    button(words, () => screen.setMode(mode), { title, pressed: false }),
  );
  const heads = h("span", { class: "group heads", role: "group", "aria-label": "Heads" });
  const element = h(
    "section",
    { class: "transport", "aria-label": "Playback" },
    h(
      "span",
      { class: "group" },
      back,
      icon("‹", "One frame back (Left)", () => player.by(-1)),
      icon("›", "One frame on (Right)", () => player.by(1)),
      forward,
    ),
    h("label", { class: "speed" }, fps, rate),
    h("span", { class: "group", role: "group", "aria-label": "Which frames" }, ...modes),
    h("span", { class: "gap" }),
    picture,
  );

  clean.add(
    player.playing.watch((direction) => {
      forward.textContent = direction === 1 ? "❚❚" : "▶";
      back.textContent = direction === -1 ? "❚❚" : "◀";
    }),
  );
  const showRate = (): void => {
    const wanted = screen.fps.get();
    const real = player.measured();
    const slow = player.playing.get() !== 0 && real > 0 && real < 0.85 * wanted;
    rate.textContent = slow ? `${Math.round(real)} of ${wanted} fps` : `${wanted} fps`;
    rate.classList.toggle("trouble", slow);
    rate.title = slow ? "Frames come late: playback slows down, and skips none." : "";
  };
  clean.add(
    screen.fps.watch((value) => {
      fps.value = String(value);
      showRate();
    }),
  );
  const ticking = setInterval(showRate, 500);
  clean.add(() => clearInterval(ticking));
  clean.add(
    screen.mode.watch((mode) => {
      MODES.forEach(([one], i) => modes[i]?.setAttribute("aria-pressed", String(one === mode)));
    }),
  );
  const showHeads = (): void => {
    if (session.exam.heads.length < 2) return;
    const both = screen.both.get();
    fill(
      heads,
      ...session.exam.heads.map(({ head }) =>
        button(`Head ${head}`, () => {
          screen.setBoth(false);
          screen.setHead(head);
        }, { pressed: !both && screen.head.get() === head }),
      ),
      button("Both", () => screen.setBoth(true), { pressed: both, title: "Side by side, kept in step by time" }),
    );
  };
  clean.add(screen.head.watch(showHeads));
  clean.add(screen.both.watch(showHeads));
  clean.add(
    player.shown.watch((shown) => {
      if (shown === null) return;
      const { head, frame } = screen.here();
      const time = session.hasTimes ? clock(session.positions.get(head)?.[frame] ?? NaN) : "";
      const sequence = player.sequence();
      const all = session.columns.get(head)?.frames ?? 0;
      const left =
        screen.mode.get() === "all" ? `of ${count(all - 1)}` : `· ${count(shown.step + 1)} of ${count(sequence.length)}`;
      fill(where, h("b", {}, time), ` frame ${count(frame)} `, h("span", { class: "soft" }, left));
    }),
  );
  return { element, where, heads, close: () => clean.clean() };
}
