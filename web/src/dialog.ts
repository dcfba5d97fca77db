// A window over the page, with the browser's own <dialog>: focus stays inside, Escape closes.

import { h } from "./dom.ts";

export interface Opened {
  close(): void;
}

export function openDialog(title: string, content: Node[], options: { wide?: boolean } = {}): Opened {
  const place = document.getElementById("dialogs") ?? document.body;
  const close = (): void => element.close();
  const element = h(
    "dialog",
    { class: options.wide ? "wide" : "", "aria-label": title },
    h(
      "header",
      {},
      h("h2", {}, title),
      h("button", { type: "button", class: "quiet icon", "aria-label": "Close", onclick: close }, "✕"),
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

/** A passing message at the lower edge. */
export function toast(sentence: string, trouble = false): void {
  const element = h("div", { class: `toast${trouble ? " trouble" : ""}`, role: "alert" }, sentence);
  document.body.append(element);
  setTimeout(() => element.remove(), trouble ? 7000 : 2500);
}
