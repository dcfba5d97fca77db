// Colours for canvases. The page is light or dark as the system is: see base.css.

matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => {
  document.dispatchEvent(new Event("themechange"));
});

/** The present value of a colour of the page. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
