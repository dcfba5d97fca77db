// Brightness, contrast and colours as controls in the bar.

import { h } from "../dom.ts";
import type { Signal } from "@preact/signals";
import { NEUTRAL, type Adjustment, type Enhancement } from "./adjust.ts";

const NAMES: readonly (readonly [Enhancement, string])[] = [
  ["off", "Natural"],
  ["saturation", "Stronger"],
  ["vessels", "Vessels"],
];

export function pictureControls(adjustment: Signal<Adjustment>): HTMLElement {
  const slider = (label: string, title: string, change: (value: number) => Partial<Adjustment>): HTMLInputElement => {
    const input = h("input", { type: "range", min: 0.4, max: 2.5, step: 0.05, "aria-label": label, title });
    input.addEventListener("input", () => (adjustment.value = { ...adjustment.value, ...change(input.valueAsNumber) }));
    return input;
  };
  const brightness = slider("Brightness", "Brightness ([ and ])", (value) => ({ brightness: value }));
  const contrast = slider("Contrast", "Contrast ({ and })", (value) => ({ contrast: value }));
  const colours = h(
    "select",
    { "aria-label": "Colours", title: "Colours (E)" },
    ...NAMES.map(([value, words]) => h("option", { value }, words)),
  );
  colours.addEventListener("change", () => {
    adjustment.value = { ...adjustment.value, enhancement: colours.value as Enhancement };
    colours.blur();
  });
  const reset = h("button", { type: "button", class: "quiet", title: "As it was taken (0)", onclick: () => (adjustment.value = NEUTRAL) }, "Reset");
  adjustment.subscribe((now) => {
    brightness.value = String(now.brightness);
    contrast.value = String(now.contrast);
    colours.value = now.enhancement;
    reset.hidden = now.brightness === 1 && now.contrast === 1 && now.enhancement === "off";
  });
  return h(
    "span",
    { class: "group picturecontrols", role: "group", "aria-label": "Picture" },
    h("label", { title: "Brightness" }, "☀", brightness),
    h("label", { title: "Contrast" }, "◑", contrast),
    colours,
    reset,
  );
}
