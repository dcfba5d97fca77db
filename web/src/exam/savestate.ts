// Saved, saving, or not connected with so many actions waiting: always in sight.

import { openDialog } from "../dialog.ts";
import { button, fill, h } from "../dom.ts";
import { plural } from "../model/words.ts";
import type { Saver } from "../saving/saver.ts";

export function saveState(saver: Saver): { element: HTMLElement; close(): void } {
  const element = h("span", { class: "save", role: "status", "aria-live": "polite" });
  const close = saver.status.watch(({ waiting, connected, sentence, refused }) => {
    const last = refused.at(-1);
    if (last) {
      element.className = "save trouble";
      const show = (): void => showRefused(saver);
      fill(element, button(`✕ ${plural(refused.length, "action")} not taken`, show, { class: "link", title: last.sentence }));
    } else if (!connected) {
      element.className = "save trouble";
      element.title = "Nothing is lost: what waits is kept in this browser, and sent again.";
      fill(element, `⚠ ${sentence}: ${plural(waiting, "action")} waiting`);
    } else if (waiting > 0) {
      element.className = "save";
      fill(element, "… saving");
    } else {
      element.className = "save soft";
      element.title = "Every action is on the server";
      fill(element, "✓ saved");
    }
  });
  return { element, close };
}

function showRefused(saver: Saver): void {
  const refused = saver.status.get().refused;
  openDialog("What the server did not take", [
    ...refused.map(({ parcel, sentence }) =>
      h("p", {}, h("b", {}, parcel.kind === "seen" ? "What was seen: " : `${String(parcel.body["kind"])}, ${String(parcel.body["subject"])}: `), sentence),
    ),
    button("I have read this", () => {
      for (const { parcel } of refused) saver.forget(parcel.body.key);
      document.querySelector<HTMLDialogElement>("dialog[open]")?.close();
    }),
  ]);
}
