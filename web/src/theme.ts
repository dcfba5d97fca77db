// Colours for canvases. The page is light or dark as the system is: see base.css.

matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => {
  document.dispatchEvent(new Event("themechange"));
});

/** A colour of the page, as it is now. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
