// Elements in one line each. Text is always text: nothing here takes HTML.

import { render, type ComponentChildren } from "preact";

type Child = Node | string | number | null | undefined | false;
type Listener = (event: never) => void;
type Props = Record<string, string | number | boolean | null | undefined | Listener>;

const SVG = "http://www.w3.org/2000/svg";

/** Make an element: `on...` properties listen, booleans set or leave an attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, props);
  add(element, children);
  return element;
}

export function svg(tag: string, props: Props = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  apply(element, props);
  add(element, children);
  return element;
}

function apply(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value as EventListener);
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
}

function add(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === "number" ? String(child) : child);
  }
}

const FOCUSABLE = "button, a[href], input, select, textarea, [tabindex]";
const nameOf = (one: HTMLElement): string => one.dataset["field"] ?? one.ariaLabel ?? one.textContent ?? "";

/** Put new children in the place of the old ones. What had the focus passes it on to its like. */
export function fill(element: Element, ...children: Child[]): void {
  const focusable = (): HTMLElement[] => [...element.querySelectorAll<HTMLElement>(FOCUSABLE)];
  const held = document.activeElement as HTMLElement | null;
  const at = held === null || held === element || !element.contains(held) ? -1 : focusable().indexOf(held);
  const name = at < 0 || held === null ? "" : nameOf(held);
  element.replaceChildren();
  add(element, children);
  if (at < 0) return;
  const now = focusable();
  const like = now.find((one) => nameOf(one) === name) ?? now[at];
  like?.focus({ preventScroll: true });
}

/** A button with a plain label; `key` is shown as a hint. */
export function button(
  label: string,
  onclick: () => void,
  options: {
    key?: string;
    focus?: boolean;
    /** What a screen reader calls it, where the label alone does not do. */
    name?: string;
    title?: string;
    class?: string;
    pressed?: boolean;
    disabled?: boolean;
  } = {},
): HTMLButtonElement {
  return h(
    "button",
    {
      type: "button",
      class: options.class,
      title: options.title,
      "aria-label": options.name,
      "aria-pressed": options.pressed === undefined ? null : String(options.pressed),
      disabled: options.disabled ?? false,
      autofocus: options.focus ?? false,
      onclick,
    },
    label,
    options.key ? h("kbd", { "aria-hidden": "true" }, options.key) : null,
  );
}

/** The parts of a page that have to be undone when it is left. */
export function cleaner(): { add(undo: () => void): void; clean(): void } {
  const undos: (() => void)[] = [];
  return {
    add: (undo) => void undos.push(undo),
    clean: () => {
      for (const undo of undos.splice(0).reverse()) undo();
    },
  };
}

/** A component in an element of its own, which takes no part in the layout. */
export function mounted(component: ComponentChildren): HTMLElement {
  const element = h("span", { class: "holder" });
  render(component, element);
  return element;
}
