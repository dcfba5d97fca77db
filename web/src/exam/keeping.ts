// The ledger's way to the server: what stood on the screen, in batches, also when one leaves.

import { newKey } from "../saving/saver.ts";
import type { Screen } from "./screen.ts";
import type { Session } from "./session.ts";

const EVERY = 4000;

/** Keep the ledger while the exam is open. Returns what ends it. */
export function keepLedger(session: Session, screen: Screen): () => void {
  const { ledger, saver, exam } = session;

  const look = (): void => {
    const shown = screen.player.shown.get();
    if (shown === null || document.hidden) ledger.hide();
    else ledger.show(shown.spots);
  };
  const send = (): void => {
    const batches = ledger.take();
    // After signing the ledger is closed too; looking again is not reading.
    if (session.reading.get().state === "signed") return;
    for (const { head, frames } of batches) saver.add(exam.exam, "seen", { key: newKey(), head, frames });
  };
  const stop = screen.player.shown.watch(look);
  const timer = setInterval(send, EVERY);
  const hidden = (): void => {
    look();
    if (document.hidden) send();
  };
  document.addEventListener("visibilitychange", hidden);
  addEventListener("pagehide", send);
  return () => {
    stop();
    clearInterval(timer);
    document.removeEventListener("visibilitychange", hidden);
    removeEventListener("pagehide", send);
    ledger.hide();
    send();
  };
}
