// Dialogs and passing messages. The browser's own <dialog> keeps the focus inside, closes with
// Escape, and returns the focus.

import { createElement, Fragment, render, type ComponentChildren } from "preact";
import { announce } from "./announce.ts";

let opened = 0;

/** Open a dialog. */
export function openDialog(title: string, content: (close: () => void) => ComponentChildren, { wide = false } = {}): void {
  const element = document.createElement("dialog");
  const close = (): void => element.close();
  const name = `dialog-${++opened}`;
  element.setAttribute("aria-labelledby", name);
  element.classList.toggle("wide", wide);
  const button = { type: "button", class: "quiet icon", "aria-label": "Close", title: "Close (Esc)", onClick: close };
  const header = createElement("header", null, createElement("h2", { id: name }, title), createElement("button", button, "✕"));
  render(createElement(Fragment, null, header, content(close)), element);
  element.addEventListener("close", () => {
    element.remove();
    render(null, element);
  });
  element.addEventListener("click", (event) => {
    if (event.target === element) close();
  });
  (document.getElementById("dialogs") ?? document.body).append(element);
  element.showModal();
}

export const dialogOpen = (): boolean => document.querySelector("dialog[open]") !== null;

/** A passing message at the upper edge; trouble stays longer. */
export function toast(sentence: string, trouble = false): void {
  const element = document.createElement("div");
  element.className = `toast${trouble ? " trouble" : ""}`;
  if (trouble) element.setAttribute("role", "alert");
  element.textContent = sentence;
  const place = document.getElementById("toasts") ?? document.body;
  for (const old of place.querySelectorAll(".toast")) if (old.textContent === sentence) old.remove();
  place.append(element);
  if (!trouble) announce(sentence);
  setTimeout(() => element.remove(), trouble ? 7000 : 2500);
}
