// Saved, saving, or not connected with so many actions waiting; and text that was typed but not added.

import { useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { announce } from "../announce.ts";
import { plural } from "../model/words.ts";
import { LOG_IN } from "../saving/delivery.ts";
import type { Saver } from "../saving/saver.ts";
import { mount, type Mounted } from "./mount.tsx";
import { refusedWords, showRefused } from "./refused.ts";

export const saveState = (saver: Saver): Mounted => mount("span", "", <SaveState saver={saver} />);

/** `exam`: the open exam, whose typed text is named. */
export function SaveState({ saver, exam }: { saver: Saver; exam?: string }) {
  const before = useRef("");
  const { waiting, connected, sentence, refused } = saver.status.value;
  const last = refused.at(-1);
  const told = last ? refusedWords(refused) : "";
  const late = connected ? "" : `: ${plural(waiting, "action")} waiting`;
  const drafts = exam === undefined ? [] : saver.drafts.of(exam);
  useSignalEffect(() => {
    // Each state is announced once; saving itself is too quick to be worth a word.
    const now = saver.status.value;
    const words = [now.refused.length > 0 ? refusedWords(now.refused) : "", now.connected ? "" : `${now.sentence}: ${plural(now.waiting, "action")} waiting`].filter(Boolean).join("; ") || (now.waiting > 0 ? "saving" : "saved");
    if (words !== before.current && words !== "saving" && (words !== "saved" || before.current !== "")) announce(words, 600);
    before.current = words;
  });
  const title = late ? "Nothing is lost: waiting actions are kept in this browser, and sent again." : last ? "" : "Every action is on the server";
  return (
    <>
      {drafts.length > 0 && (
        <span class="draft" title="Kept in this browser until it is added">
          {`not added: ${drafts.join(", ")}`}
        </span>
      )}
      <span class={last || late ? "save trouble" : waiting > 0 ? "save" : "save soft"} title={title}>
        {last && (
          <button type="button" class="link" title={last.refusal.sentence} onClick={() => showRefused(saver)}>
            {`✕ ${told}`}
          </button>
        )}
        {last && late && " "}
        {late && (
          <>
            {"⚠ "}
            {/* In another window: this one keeps what it shows. */}
            {sentence === LOG_IN ? (
              <a href="login" target="_blank">
                {sentence}
              </a>
            ) : (
              sentence
            )}
            {late}
          </>
        )}
        {!last && !late && (waiting > 0 ? "… saving" : "✓ saved")}
      </span>
    </>
  );
}
