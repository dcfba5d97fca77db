// Elements in one line each, for canvases and layout; everything else is a component.

type Child = Node | string | null;
type Props = Record<string, string | number | boolean | null | ((event: never) => void)>;

/** Make an element: `on...` properties listen, booleans set or leave an attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
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
