// Displayed frames on their way to the server, in batches, also when one leaves.

import { newKey } from "../saving/saver.ts";
import type { Screen } from "./screen.ts";
import { SCREENED_ANEW, type Session } from "./session.ts";

const EVERY = 4000;

export interface Keeper {
  /** Send what was seen so far. */
  flush(): void;
  /** A signature is on its way: what is seen from now on waits until the server has answered. */
  hold(yes: boolean): void;
  close(): void;
}

/** Note displayed frames while the exam is open. */
export function keepViewed(session: Session, screen: Screen): Keeper {
  const { viewed } = session;
  let held = false;

  const look = (): void => {
    const shown = screen.player.drawn.value;
    if (shown === null || document.hidden) viewed.hide();
    else viewed.show(shown.spots.filter(({ visible }) => visible));
  };
  const send = (): void => {
    if (held) return;
    const batches = viewed.take();
    // After signing, looking again is not reading. Of an exam that was screened again the server
    // would take nothing, and says so once.
    if (session.reading.value.state === "signed" || session.barrier.value === SCREENED_ANEW) return;
    for (const batch of batches) session.send("viewed", { key: newKey(), ...batch });
  };
  const stop = screen.player.drawn.subscribe(look);
  const timer = setInterval(send, EVERY);
  const hidden = (): void => {
    look();
    if (document.hidden) send();
  };
  document.addEventListener("visibilitychange", hidden);
  addEventListener("pagehide", send);
  document.addEventListener("leaving", send);
  return {
    flush: send,
    hold: (yes) => void (held = yes),
    close() {
      stop();
      clearInterval(timer);
      document.removeEventListener("visibilitychange", hidden);
      removeEventListener("pagehide", send);
      document.removeEventListener("leaving", send);
      viewed.hide();
      send();
    },
  };
}
