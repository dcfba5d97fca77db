// Who reads, and logging out. What the server does not have yet is named first: it stays in this
// browser, and is sent when the same reader logs in here again.

import { api } from "../api/client.ts";
import type { Room } from "../api/types.ts";
import { openDialog, toast } from "../dialog.ts";
import { plural } from "../model/words.ts";
import { draftsOf } from "../saving/drafts.ts";
import type { Saver } from "../saving/saver.ts";

const LONGEST = 2000; // milliseconds that the last entries get to reach the server

export function WhoReads({ room, saver }: { room: Room; saver: Saver }) {
  const words = room.role === "reader" ? room.reader : `${room.reader}, ${room.role}`;
  return (
    <span class="who">
      <span class="soft" title={`Logged in: ${words}`}>{words}</span>
      {room.login && (
        <button type="button" class="quiet" onClick={() => void askToLeave(room, saver)}>Log out</button>
      )}
    </span>
  );
}

async function askToLeave(room: Room, saver: Saver): Promise<void> {
  document.dispatchEvent(new Event("leaving")); // displayed frames are sent
  saver.kick();
  await Promise.race([saver.empty(), new Promise((done) => setTimeout(done, LONGEST))]);
  const { waiting, refused } = saver.status.value;
  const drafts = draftsOf(room).all.value;
  if (waiting === 0 && refused.length === 0 && drafts.length === 0) return leave();
  const exams = [...new Set(drafts.map(({ exam }) => exam))].join(", ");
  openDialog("Log out?", (close) => (
    <>
      {waiting > 0 && (
        <p>
          <b>{plural(waiting, "action")} {waiting === 1 ? "is" : "are"} not saved on the server yet.</b> They stay in this
          browser, and are sent when {room.reader} logs in here again. On another machine they are not there.
        </p>
      )}
      {refused.length > 0 && (
        <p>The server refused {plural(refused.length, "action")}. This is shown again when {room.reader} logs in here.</p>
      )}
      {drafts.length > 0 && (
        <p>
          {plural(drafts.length, "text")} {drafts.length === 1 ? "was" : "were"} typed and not added: {exams}. They stay in
          this browser until they are added or discarded.
        </p>
      )}
      <div class="row">
        <button type="button" class="primary" autofocus onClick={close}>Stay</button>
        <button
          type="button"
          onClick={() => {
            close();
            void leave();
          }}
        >
          Log out all the same
        </button>
      </div>
    </>
  ));
}

async function leave(): Promise<void> {
  try {
    await api.logout();
  } catch (error) {
    return toast(`Not logged out: ${error instanceof Error ? error.message : String(error)}`, true);
  }
  location.replace("./login");
}
