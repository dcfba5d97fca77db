// The bar above: which exam, its state, what is saved, and what ends the reading.

import { button, fill, h } from "../dom.ts";
import { showHelp } from "../help.ts";
import { themeButton } from "../theme.ts";
import type { Deciding } from "./deciding.ts";
import type { Session } from "./session.ts";

interface Ends {
  save: HTMLElement;
  sign(): void;
  differences(): void;
}

export function topBar(
  session: Session,
  deciding: Deciding,
  messages: HTMLElement[],
  ends: Ends,
): { element: HTMLElement; close(): void } {
  const { room } = session;
  const state = h("span", { class: "examstate" });
  const sign = button("Sign", ends.sign, { class: "primary", title: "Ctrl+Enter" });
  const undo = button("↶", () => void deciding.undo(), { class: "quiet icon", title: "Undo (Ctrl+Z)" });
  const redo = button("↷", () => void deciding.redo(), { class: "quiet icon", title: "Redo (Ctrl+Shift+Z)" });
  const urgent = button("▲ Urgent", deciding.urgent, { pressed: false, class: "urgentbutton", title: "Mark the exam urgent (!)" });
  undo.setAttribute("aria-label", "Undo");
  redo.setAttribute("aria-label", "Redo");
  const element = h(
    "header",
    { class: "bar" },
    h("a", { class: "back", href: "#/", title: "Back to the list (Esc)" }, "‹ Exams"),
    h("h1", {}, session.exam.exam),
    state,
    ...messages,
    h("span", { class: "gap" }),
    ends.save,
    h("span", { class: "soft", title: "Who reads" }, room.role === "reader" ? room.reader : `${room.reader}, ${room.role}`),
    undo,
    redo,
    urgent,
    room.way === "blind" ? button("Differences", ends.differences) : null,
    sign,
    h("button", { type: "button", class: "quiet icon", title: "Keys (?)", "aria-label": "Keys", onclick: showHelp }, "?"),
    themeButton(),
  );
  const close = session.reading.watch((reading) => {
    const signed = reading.state === "signed";
    const by = reading.signature;
    const version = reading.version > 1 ? `, version ${reading.version}` : "";
    fill(state, signed ? `● signed by ${by?.reader ?? "all"}${version}` : `${reading.state === "unread" ? "○" : "◐"} ${reading.state}${version}`);
    state.title = by ? `Hash ${by.hash}` : "";
    sign.textContent = signed ? "Reopen" : "Sign";
    sign.disabled = room.role === "pre-reader";
    if (sign.disabled) sign.title = "The validator signs.";
    undo.disabled = signed || reading.undoable === null;
    redo.disabled = signed || reading.redoable === null;
    urgent.disabled = signed;
    urgent.setAttribute("aria-pressed", String(reading.urgent));
  });
  return { element, close };
}
