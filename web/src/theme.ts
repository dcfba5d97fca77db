// Dark, light, or as the system says.

import { h } from "./dom.ts";
import { withKeys } from "./keymap.ts";
import { keep, settings } from "./settings.ts";

const wantsLight = matchMedia("(prefers-color-scheme: light)");

export function applyTheme(): void {
  const { theme } = settings();
  const shown = theme === "system" ? (wantsLight.matches ? "light" : "dark") : theme;
  if (document.documentElement.dataset["theme"] === shown) return;
  document.documentElement.dataset["theme"] = shown;
  document.dispatchEvent(new Event("themechange"));
}

wantsLight.addEventListener("change", applyTheme);

const NEXT = { dark: "light", light: "system", system: "dark" } as const;
const WORDS = { dark: "Dark", light: "Light", system: "As the system" } as const;

/** Go on to the next theme; returns its name in words. */
export function nextTheme(): string {
  const theme = NEXT[settings().theme];
  keep({ theme });
  applyTheme();
  return WORDS[theme];
}

export function themeButton(): HTMLButtonElement {
  const label = (): string => `Colours of the page: ${WORDS[settings().theme]}`;
  const element = h("button", { type: "button", class: "quiet icon" }, "◐");
  const say = (): void => {
    element.title = withKeys(label(), "theme");
    element.setAttribute("aria-label", label());
  };
  element.addEventListener("click", () => {
    nextTheme();
    say();
  });
  document.addEventListener("themechange", say);
  say();
  return element;
}

/** A colour of the theme, for canvases. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
