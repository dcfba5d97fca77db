// Logging out, where one came in by name and password. What the server does not have yet is told
// first: it stays in this browser, and is sent when the same reader logs in here again.

import { api } from "./api/client.ts";
import type { Room } from "./api/types.ts";
import { openDialog, toast } from "./dialog.ts";
import { button, h } from "./dom.ts";
import { plural } from "./model/words.ts";
import { begun } from "./saving/drafts.ts";
import type { Saver } from "./saving/saver.ts";

const LONGEST = 2000; // milliseconds that the last entries get to reach the server

/** Who reads, and where they may, the way out. */
export function whoReads(room: Room, saver: Saver): HTMLElement {
  const words = room.role === "reader" ? room.reader : `${room.reader}, ${room.role}`;
  return h(
    "span",
    { class: "who" },
    h("span", { class: "soft", title: `Who reads: ${words}` }, words),
    room.login ? button("Log out", () => void askToLeave(room, saver), { class: "quiet" }) : null,
  );
}

async function askToLeave(room: Room, saver: Saver): Promise<void> {
  document.dispatchEvent(new Event("leaving")); // what was seen so far goes on its way
  saver.kick();
  await Promise.race([saver.empty(), new Promise((done) => setTimeout(done, LONGEST))]);
  const { waiting, refused } = saver.status.value;
  const notes = begun();
  if (waiting === 0 && refused.length === 0 && notes.length === 0) return leave();
  const dialog = openDialog("Log out?", [
    waiting === 0
      ? null
      : h(
          "p",
          {},
          h("b", {}, `${plural(waiting, "action")} ${waiting === 1 ? "is" : "are"} not saved on the server yet. `),
          `They stay in this browser, and are sent when ${room.reader} logs in here again. On another machine they are not there.`,
        ),
    refused.length === 0
      ? null
      : h("p", {}, `${plural(refused.length, "action")} the server did not take; that is shown again when ${room.reader} logs in here.`),
    notes.length === 0 ? null : h("p", {}, `A note was begun and not added, and would be lost: ${notes.join(", ")}.`),
    h(
      "div",
      { class: "row" },
      button("Stay", () => dialog.close(), { class: "primary", focus: true }),
      button("Log out all the same", () => {
        dialog.close();
        void leave();
      }),
    ),
  ].filter((part) => part !== null));
}

async function leave(): Promise<void> {
  try {
    await api.logout();
  } catch (error) {
    return toast(`Not logged out: ${error instanceof Error ? error.message : String(error)}`, true);
  }
  location.replace("./login");
}
