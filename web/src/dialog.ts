// Dialogs and passing messages. The browser's own <dialog> keeps the focus inside, closes with
// Escape, and returns the focus.

import { createElement, Fragment, render, type ComponentChildren } from "preact";
import { announce } from "./announce.ts";

export interface Opened {
  close(): void;
}

interface Options {
  wide?: boolean;
  /** Called once, however the dialog is closed. */
  closed?(): void;
}

let opened = 0;

/** Open a dialog; its content is a component, or nodes. */
export function openDialog(
  title: string,
  content: Node[] | ((close: () => void) => ComponentChildren),
  { wide = false, closed }: Options = {},
): Opened {
  const element = document.createElement("dialog");
  const close = (): void => element.close();
  const name = `dialog-${++opened}`;
  element.setAttribute("aria-labelledby", name);
  element.classList.toggle("wide", wide);
  const parts = Array.isArray(content) ? null : content(close);
  const button = { type: "button", class: "quiet icon", "aria-label": "Close", title: "Close (Esc)", onClick: close };
  render(
    createElement(Fragment, null,
      createElement("header", null, createElement("h2", { id: name }, title), createElement("button", button, "✕")),
      parts,
    ),
    element,
  );
  if (Array.isArray(content)) element.append(...content);
  element.addEventListener("close", () => {
    element.remove();
    render(null, element);
    closed?.();
  });
  element.addEventListener("click", (event) => {
    if (event.target === element) close();
  });
  (document.getElementById("dialogs") ?? document.body).append(element);
  element.showModal();
  return { close };
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
