// One item to the server, and what its answer means: taken, refused for good, or not now.

import { Refused, Unreached } from "../api/client.ts";
import type { Outcome, Item } from "./outbox.ts";
import { strangerWords, type Owner } from "./owner.ts";

export const LOG_IN = "log in again";
export const OPEN_LINK = "open the room's link again in this browser";

/** The answers that say no for good. Anything else may be otherwise later: nothing is given up. */
const REFUSALS = new Set([403, 409, 422]);

interface Options<T> {
  owner: Owner;
  /** Whether one comes in by name and password. */
  login: boolean;
  deliver(item: Item): Promise<T>;
  /** Who is here now, and in which room. */
  here(): Promise<Owner>;
  /** How an exam is screened now. */
  screening(exam: string): Promise<string>;
}

export interface Delivery<T> {
  send(item: Item): Promise<Outcome<T>>;
  /** The connection was lost: who is logged in is asked before anything is sent again. */
  doubt(): void;
}

export function makeDelivery<T>({ owner, login, deliver, here, screening }: Options<T>): Delivery<T> {
  // What is sent is stored for the reader who is logged in: after an interruption it may be another one, and
  // another room.
  let sure = true;

  const outdated = async ({ exam, body }: Item): Promise<boolean> => {
    const before = body["screening"];
    if (typeof before !== "string" || before === "") return false;
    const now = await screening(exam).catch(() => before); // the server's own sentence has to do
    return now !== "" && now !== before;
  };

  return {
    doubt: () => void (sure = false),
    async send(item) {
      try {
        if (!sure) {
          const stranger = strangerWords(owner, await here());
          if (stranger !== null) return { outcome: "later", sentence: stranger };
          sure = true;
        }
      } catch (error) {
        return { outcome: "later", sentence: troubleWords(error, login) }; // nothing was said of the item
      }
      try {
        return { outcome: "taken", answer: await deliver(item) };
      } catch (error) {
        if (error instanceof Refused && REFUSALS.has(error.status)) {
          const again = error.status === 409 && (await outdated(item));
          return { outcome: "refused", sentence: error.message, outdated: again };
        }
        sure = false;
        const alone = error instanceof Refused && error.status !== 401;
        return { outcome: "later", sentence: troubleWords(error, login), alone };
      }
    },
  };
}

function troubleWords(error: unknown, login: boolean): string {
  if (error instanceof Unreached) return "not connected";
  // A server that was started again has no sessions yet; the cookie is all that is missing.
  if (error instanceof Refused && error.status === 401) return login ? LOG_IN : OPEN_LINK;
  return error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
}
