// Saved, saving, or not connected with so many actions waiting: always in sight.

import { announce } from "../announce.ts";
import { button, fill, h } from "../dom.ts";
import { plural } from "../model/words.ts";
import { LOG_IN } from "../saving/delivery.ts";
import type { Saver } from "../saving/saver.ts";
import { refusedWords, showRefused } from "./refused.ts";

export function saveState(saver: Saver): { element: HTMLElement; close(): void } {
  const element = h("span", { class: "save" });
  let before = "";
  const close = saver.status.subscribe(({ waiting, connected, sentence, refused }) => {
    const last = refused.at(-1);
    const told = last ? refusedWords(refused) : "";
    const late = connected ? "" : `${sentence}: ${plural(waiting, "action")} waiting`;
    const words = [told, late].filter(Boolean).join("; ") || (waiting > 0 ? "saving" : "saved");
    if (late !== "") element.title = "Nothing is lost: what waits is kept in this browser, and sent again.";
    else element.title = last ? "" : "Every action is on the server";
    // In another window: what stands in this one must not go.
    const how = sentence === LOG_IN ? h("a", { href: "login", target: "_blank" }, sentence) : sentence;
    fill(
      element,
      last ? button(`✕ ${told}`, () => showRefused(saver), { class: "link", title: last.refusal.sentence }) : null,
      last && late !== "" ? " " : null,
      ...(late !== "" ? ["⚠ ", how, `: ${plural(waiting, "action")} waiting`] : []),
      !last && late === "" ? (waiting > 0 ? "… saving" : "✓ saved") : null,
    );
    element.className = last || !connected ? "save trouble" : waiting > 0 ? "save" : "save soft";
    // Said once each: saving itself is too quick to be worth a word.
    if (words === before) return;
    if (words === "saved" ? before !== "" : words !== "saving") announce(words, 600);
    before = words;
  });
  return { element, close };
}
