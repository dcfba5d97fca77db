// All keys, on `?`.

import { openDialog } from "./dialog.ts";
import { h } from "./dom.ts";
import { GROUPS } from "./keymap.ts";

const MOUSE = [
  "Frame: wheel zooms, drag moves, double-click shows it whole, Shift and click says where a finding lies.",
  "Timeline: click or drag goes there, wheel zooms in time, Shift and wheel moves, double-click shows the whole exam.",
];

export function showHelp(): void {
  openDialog(
    "Keys",
    [
      h(
        "div",
        { class: "keys" },
        ...GROUPS.map(({ name, bindings }) =>
          h(
            "section",
            {},
            h("h3", {}, name),
            h(
              "dl",
              {},
              ...bindings.flatMap(({ keys, words }) => [
                h("dt", {}, ...keys.flatMap((key, i) => (i ? [" ", h("kbd", {}, key)] : [h("kbd", {}, key)]))),
                h("dd", {}, words),
              ]),
            ),
          ),
        ),
      ),
      ...MOUSE.map((words) => h("p", { class: "small soft" }, words)),
    ],
    { wide: true },
  );
}
