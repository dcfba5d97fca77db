// A component in an element of the layout.

import { render, type ComponentChild } from "preact";

export interface Mounted {
  element: HTMLElement;
  close(): void;
}

export function mount(tag: "div" | "aside" | "section" | "header" | "span", className: string, content: ComponentChild, label?: string): Mounted {
  const element = document.createElement(tag);
  element.className = className;
  if (label !== undefined) element.setAttribute("aria-label", label);
  render(content, element);
  return { element, close: () => render(null, element) };
}
