// A window over the page, with the browser's own <dialog>: focus stays inside, Escape closes, and
// whatever had the focus before gets it back.

import { announce } from "./announce.ts";
import { h } from "./dom.ts";

export interface Opened {
  close(): void;
}

let opened = 0;

export function openDialog(title: string, content: Node[], options: { wide?: boolean } = {}): Opened {
  const place = document.getElementById("dialogs") ?? document.body;
  const close = (): void => element.close();
  const name = `dialog-${++opened}`;
  const element = h(
    "dialog",
    { class: options.wide ? "wide" : "", "aria-labelledby": name },
    h(
      "header",
      {},
      h("h2", { id: name }, title),
      h("button", { type: "button", class: "quiet icon", "aria-label": "Close", title: "Close (Esc)", onclick: close }, "✕"),
    ),
    ...content,
  );
  element.addEventListener("close", () => element.remove());
  element.addEventListener("click", (event) => {
    if (event.target === element) close();
  });
  place.append(element);
  element.showModal();
  return { close };
}

export const dialogOpen = (): boolean => document.querySelector("dialog[open]") !== null;

/** A passing message at the upper edge; trouble stays longer. */
export function toast(sentence: string, trouble = false): void {
  const element = h("div", { class: `toast${trouble ? " trouble" : ""}`, role: trouble ? "alert" : null }, sentence);
  const place = document.getElementById("toasts") ?? document.body;
  for (const old of place.querySelectorAll(".toast")) if (old.textContent === sentence) old.remove();
  place.append(element);
  if (!trouble) announce(sentence);
  setTimeout(() => element.remove(), trouble ? 7000 : 2500);
}
