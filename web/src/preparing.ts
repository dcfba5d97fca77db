// How far the index of an exam is: asked for while it is made, and told wherever the exam is named.
//
// Asking begins the work, so it is asked for exams alone that were opened in this window.

import { api, Refused } from "./api/client.ts";
import type { Preparing } from "./api/types.ts";
import { h } from "./dom.ts";
import { watched, type Watched } from "./emitter.ts";

const EVERY = 1000;

const known = new Map<string, Watched<Preparing | null>>();
const asking = new Set<string>();

/** What is known of an exam that was opened here; null where there is nothing to tell. */
export function preparingOf(exam: string): Watched<Preparing | null> {
  let found = known.get(exam);
  if (found === undefined) known.set(exam, (found = watched<Preparing | null>(null)));
  return found;
}

/** Ask until the exam is ready or has failed, also after its page was left. */
export function followPreparing(exam: string): void {
  if (asking.has(exam)) return;
  asking.add(exam);
  const told = preparingOf(exam);
  const ask = async (): Promise<void> => {
    try {
      told.set(await api.preparing(exam));
    } catch (error) {
      // Not reached: what was told last may still hold. Refused: the exam itself says why.
      if (error instanceof Refused) told.set(null);
    }
    const state = told.get()?.state;
    if (state === "waiting" || state === "working") setTimeout(() => void ask(), EVERY);
    else asking.delete(exam);
  };
  void ask();
}

export function preparingWords({ state, words, done, of }: Preparing): string {
  if (state === "ready") return "";
  if (state === "failed") return `The index could not be made: ${words || "the server does not say why."}`;
  if (state === "waiting") return "Preparing: waits its turn; jumps are slower until then.";
  const share = of > 1 ? ` ${Math.floor((100 * done) / of)} %` : "";
  return `Preparing: ${words}${share}`;
}

/** A line that tells it, and is gone when there is nothing to tell. */
export function preparingLine(exam: string): { element: HTMLElement; close(): void } {
  const words = h("span");
  const bar = h("progress", { "aria-label": "Preparing" });
  const again = h("button", { type: "button", class: "link", onclick: () => followPreparing(exam) }, "Try again");
  const element = h("span", { class: "preparing", hidden: true }, words, bar, again);
  const close = preparingOf(exam).watch((told) => {
    element.hidden = told === null || told.state === "ready";
    if (told === null) return;
    words.textContent = element.title = preparingWords(told);
    element.classList.toggle("trouble", told.state === "failed");
    again.hidden = told.state !== "failed";
    bar.hidden = told.state === "failed";
    if (told.state === "working" && told.of > 1) {
      bar.max = told.of;
      bar.value = told.done;
    } else bar.removeAttribute("value");
  });
  return { element, close };
}
