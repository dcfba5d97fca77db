// A key, then a number: a small menu over the frame says what the number means.

import { announce } from "../announce.ts";
import { h } from "../dom.ts";

export interface Choice {
  key: string;
  words: string;
  run(): void;
}

let open: { element: HTMLElement; choices: readonly Choice[] } | null = null;

export function openMenu(title: string, choices: readonly Choice[]): void {
  closeMenu();
  const element = h(
    "div",
    { class: "chord", role: "menu", "aria-label": title },
    h("b", { role: "presentation" }, title),
    ...choices.map((choice) =>
      h("button", { type: "button", role: "menuitem", onclick: () => take(choice) }, h("kbd", { "aria-hidden": "true" }, choice.key), ` ${choice.words}`),
    ),
    h("span", { class: "soft", "aria-hidden": "true" }, h("kbd", {}, "Esc")),
  );
  // Within the stage: the bar that decides stays visible.
  (document.querySelector(".stage") ?? document.body).append(element);
  open = { element, choices };
  announce(`${title}: ${choices.map((choice) => `${choice.key} ${choice.words}`).join(", ")}`, 0);
}

export function closeMenu(): void {
  open?.element.remove();
  open = null;
}

function take(choice: Choice): void {
  closeMenu();
  choice.run();
}

/** Give the open menu a key. True if there was a menu: the key is used up. */
export function menuKey(key: string): boolean {
  if (open === null) return false;
  const choice = open.choices.find((one) => one.key === key);
  if (choice) take(choice);
  else closeMenu();
  return true;
}
