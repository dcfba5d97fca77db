// Saved, saving, or not connected with so many actions waiting; and texts that were not added.

import { useEffect, useRef } from "preact/hooks";
import { announce } from "../announce.ts";
import type { Room } from "../api/types.ts";
import { refusedWords } from "../model/refused.ts";
import { plural } from "../model/words.ts";
import { LOG_IN } from "../saving/delivery.ts";
import { draftsOf } from "../saving/drafts.ts";
import type { Saver } from "../saving/saver.ts";
import { showRefused } from "./refused.tsx";

export function SaveState({ room, saver }: { room: Room; saver: Saver }) {
  const { waiting, connected, sentence, refused } = saver.status.value;
  const drafts = draftsOf(room).all.value;
  const last = refused.at(-1);
  const late = connected ? "" : `${sentence}: ${plural(waiting, "action")} waiting`;
  const words = [last ? refusedWords(refused) : "", late].filter(Boolean).join("; ") || (waiting > 0 ? "saving" : "saved");
  const before = useRef("");
  useEffect(() => {
    // Saving itself is too quick to be announced.
    if (words === "saved" ? before.current !== "" : words !== "saving") announce(words, 600);
    before.current = words;
  }, [words]);
  const title = late ? "Nothing is lost: actions are kept in this browser, and sent again." : last ? "" : "Every action is on the server";
  return (
    <span class={`save ${last || !connected ? "trouble" : waiting > 0 ? "" : "soft"}`} title={title}>
      {last && (
        <button type="button" class="link" title={last.refusal.sentence} onClick={() => showRefused(saver)}>
          ✕ {refusedWords(refused)}
        </button>
      )}
      {late !== "" && (
        <>
          {" "}⚠ {sentence === LOG_IN ? <a href="login" target="_blank">{sentence}</a> : sentence}: {plural(waiting, "action")} waiting
        </>
      )}
      {!last && late === "" && (waiting > 0 ? "… saving" : "✓ saved")}
      {drafts.length > 0 && (
        <span class="drafts" title={drafts.map(({ exam, text }) => `${exam}: ${text.slice(0, 80)}`).join("\n")}>
          {" · "}{plural(drafts.length, "text")} not added
        </span>
      )}
    </span>
  );
}
