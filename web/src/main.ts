// The beginning: who reads, which page, which keys.

import { api, opener, Refused } from "./api/client.ts";
import type { Room } from "./api/types.ts";
import { announce } from "./announce.ts";
import { dialogOpen } from "./dialog.ts";
import { h } from "./dom.ts";
import { examAddress, readAddress } from "./exam/address.ts";
import { examPage, type ExamPage } from "./exam/page.ts";
import { listPage, type ListPage } from "./list/page.tsx";
import { makeSaver } from "./saving/saver.ts";
import "./styles/base.css";
import "./styles/list.css";
import "./styles/exam.css";
import "./styles/panel.css";
import "./styles/dialog.css";
import "./styles/small.css";

/** Milliseconds between two looks for changes of the open exam. */
const EVERY = 5000;

const place = document.getElementById("page") as HTMLElement;
const foot = document.getElementById("foot") as HTMLElement;

function trouble(error: unknown): void {
  const sentence = error instanceof Error ? error.message : String(error);
  const again = h("button", { type: "button", onclick: () => location.reload() }, "Try again");
  const list = h("a", { href: "#/" }, "Back to the list");
  const hint =
    error instanceof Refused && (error.status === 401 || error.status === 403)
      ? h("p", {}, "Open the link that capsieve review printed, or log in again.")
      : null;
  place.replaceChildren(h("main", { class: "sorry" }, h("h1", {}, "This did not work"), h("p", {}, sentence), hint, h("p", {}, again, " ", list)));
}

/** Somebody else came in, or another room: nothing of the one before is shown or sent in their name. */
function taken(before: Room, now: Room): void {
  const open = h("button", { type: "button", class: "primary", onclick: () => location.reload() }, `Continue as ${now.reader}`);
  const elsewhere = now.room !== before.room;
  const when = elsewhere ? `that room is opened here again by ${before.reader}` : `${before.reader} logs in here again`;
  place.replaceChildren(
    h(
      "main",
      { class: "sorry" },
      h("h1", {}, elsewhere ? "Another room is open here now" : `${now.reader} has logged in here`),
      h("p", {}, `This window was opened by ${before.reader}${elsewhere ? " in another room" : ""}. What ${before.reader} decided and the server does not have yet stays in this browser, and is sent when ${when}.`),
      h("p", {}, open),
    ),
  );
}

async function start(): Promise<void> {
  const room = await api.room();
  foot.textContent = `${room.disclaimer || "Research software, not a medical device."}  capsieve ${room.version}`;
  let list: ListPage | null = null;
  let exam: ExamPage | null = null;
  let turn = 0;

  let timer: ReturnType<typeof setTimeout> | undefined;
  const refresh = (name: string): void => {
    if (exam !== null && exam.exam !== name) return;
    clearTimeout(timer);
    timer = setTimeout(() => (exam ?? list)?.refresh(), 60);
  };
  // Also of what was refused: the screen must not show it as if it had been accepted.
  const saver = makeSaver(room, (item) => {
    if (item.kind === "action" && saver.waiting(item.exam).length === 0) refresh(item.exam);
  });
  const toList = (): void => void (location.hash = "#/");

  const route = async (): Promise<void> => {
    const mine = ++turn;
    const left = exam?.exam ?? null; // the list opens where the reader left it
    exam?.close();
    list?.close();
    exam = null;
    list = null;
    const address = readAddress(location.hash);
    if (address === null) {
      list = listPage(room, saver, left, (name) => void (location.hash = examAddress(name)));
      document.title = "Exams · capsieve";
      place.replaceChildren(list.element);
      return;
    }
    const name = address.exam;
    place.replaceChildren(h("main", { class: "sorry" }, h("p", { class: "soft" }, `Opening ${name} …`)));
    try {
      const page = await examPage(name, room, saver);
      if (mine !== turn) return page.close();
      exam = page;
      document.title = `${name} · capsieve`;
      place.replaceChildren(page.element);
      announce(`Exam ${name}`);
    } catch (error) {
      if (mine === turn) trouble(error);
    }
  };

  addEventListener("hashchange", () => void route());
  addEventListener("keydown", (event) => {
    const used = exam ? exam.key(event) : listKey(event, list);
    if (!used && exam === null && list === null && event.key === "Escape" && !dialogOpen()) toList();
    if (used) event.preventDefault();
  });
  // Other windows and other readers may have added something. The list looks by itself.
  let lost = false;
  const look = async (): Promise<void> => {
    if (document.hidden || exam === null) return;
    try {
      await exam.poll();
      if (lost && (await api.isSame())) saver.kick();
      lost = false;
    } catch {
      lost = true;
      saver.doubt();
    }
  };
  const polling = setInterval(() => void look(), EVERY);
  document.addEventListener("visibilitychange", () => void look());
  opener.room = room;
  opener.another = (now) => {
    clearInterval(polling);
    turn++;
    exam?.close();
    list?.close();
    exam = null;
    list = null;
    taken(room, now);
  };
  await route();
}

function listKey(event: KeyboardEvent, list: ListPage | null): boolean {
  return dialogOpen() ? false : (list?.key(event) ?? false);
}

start().catch(trouble);
