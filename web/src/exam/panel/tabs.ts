// The panel on the right: one thing at a time, as tabs.

import { h } from "../../dom.ts";

export interface Tabs {
  element: HTMLElement;
  open(name: string): void;
  current(): string;
  onopen: (name: string) => void;
}

export function makeTabs(parts: readonly { name: string; key: string; element: HTMLElement }[]): Tabs {
  let now = parts[0]?.name ?? "";
  const buttons = parts.map(({ name, key }) =>
    h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `part-${name}`, onclick: () => open(name) }, name, h("kbd", { "aria-hidden": "true" }, key)),
  );
  const bodies = parts.map(({ name, element }) =>
    h("div", { class: "part", role: "tabpanel", id: `part-${name}`, "aria-labelledby": `tab-${name}`, tabindex: -1 }, element),
  );
  const bar = h("div", { class: "tabs", role: "tablist", "aria-label": "Panel" }, ...buttons);
  bar.addEventListener("keydown", (event) => {
    const move = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (move === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const at = parts.findIndex(({ name }) => name === now);
    open(parts[(at + move + parts.length) % parts.length]?.name ?? now);
    buttons[parts.findIndex(({ name }) => name === now)]?.focus();
  });
  const tabs: Tabs = {
    element: h("aside", { class: "panel", "aria-label": "About the frame and the exam" }, bar, ...bodies),
    open: (name) => open(name),
    current: () => now,
    onopen: () => {},
  };
  const open = (name: string): void => {
    now = name;
    parts.forEach((part, i) => {
      const chosen = part.name === name;
      buttons[i]?.setAttribute("aria-selected", String(chosen));
      if (buttons[i]) buttons[i].tabIndex = chosen ? 0 : -1;
      if (bodies[i]) bodies[i].hidden = !chosen;
    });
    tabs.onopen(name);
  };
  open(now);
  return tabs;
}
