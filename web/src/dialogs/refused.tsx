// What the server refused: shown until it was read, and kept over a reload.

import { openDialog } from "../dialog.ts";
import { examAddress, readAddress } from "../exam/address.ts";
import { refusedLines } from "../model/refused.ts";
import type { Saver } from "../saving/saver.ts";

export function showRefused(saver: Saver): void {
  const { refused } = saver.status.value;
  const outdated = [...new Set(refused.filter(({ refusal }) => refusal.outdated).map(({ item }) => item.exam))];
  openDialog("Refused by the server", (close) => (
    <>
      {refusedLines(refused).map(({ exam, what, why }, i) => (
        <p key={i}>
          <b>{exam}: {what}.</b> {why}
        </p>
      ))}
      <p class="soft">This does not count. It stays in this browser until you have read it.</p>
      <div class="row">
        {outdated.map((exam) => (
          <button
            key={exam}
            type="button"
            onClick={() => {
              close();
              reopen(exam);
            }}
          >
            Open {exam} again
          </button>
        ))}
        <button
          type="button"
          onClick={() => {
            for (const { item } of refused) saver.forget(item.body.key);
            close();
          }}
        >
          I have read this
        </button>
      </div>
    </>
  ));
}

/** Get an exam from the server again. The window stays, and with it what was typed. */
function reopen(exam: string): void {
  const address = examAddress(exam);
  if (readAddress(location.hash)?.exam === exam) dispatchEvent(new Event("hashchange"));
  else location.hash = address;
}
