// The bar above: which exam, its state, what is saved, and what ends the reading.

import { createElement } from "preact";
import { button, fill, h, mounted } from "../dom.ts";
import { showHelp } from "../dialogs/help.tsx";
import { withKeys } from "../keymap.ts";
import { WhoReads } from "../dialogs/leaving.tsx";
import { signBarrier } from "../dialogs/signing.tsx";
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
  const sign = button("Sign", ends.sign, { class: "primary" });
  const undo = button("↶", () => void deciding.undo(), { class: "quiet icon", name: "Undo", title: withKeys("Undo", "undo") });
  const redo = button("↷", () => void deciding.redo(), { class: "quiet icon", name: "Redo", title: withKeys("Redo", "redo") });
  const urgent = button("▲ Urgent", deciding.urgent, { pressed: false, class: "urgentbutton", name: "Urgent", title: withKeys("Mark the exam urgent", "urgent") });
  const notice = h("span", { class: "notice", role: "status" });
  const element = h(
    "header",
    { class: "bar" },
    h("a", { class: "back", href: "#/", title: withKeys("Back to the list", "leave") }, "‹ Exams"),
    h("h1", { title: session.exam.exam }, session.exam.exam),
    state,
    notice,
    ...messages,
    h("span", { class: "gap" }),
    ends.save,
    mounted(createElement(WhoReads, { room, saver: session.saver })),
    undo,
    redo,
    urgent,
    room.workflow === "blind" ? button("Differences", ends.differences, { title: withKeys("Where the readers differ", "differences") }) : null,
    sign,
    h("button", { type: "button", class: "quiet icon", title: withKeys("Keys", "help"), "aria-label": "Keys", onclick: showHelp }, "?"),
  );
  const show = (): void => {
    const reading = session.reading.value;
    const signed = reading.state === "signed";
    const by = reading.signature;
    const version = reading.revision > 1 ? `, revision ${reading.revision}` : "";
    fill(state, signed ? `● signed by ${by?.reader ?? "all"}${version}` : `${reading.state === "unread" ? "○" : "◐"} ${reading.state}${version}`);
    state.title = by?.content ? `Hash ${by.content.hash}` : "";
    const barrier = signBarrier(session);
    sign.textContent = signed ? "Reopen" : "Sign";
    sign.disabled = barrier !== null;
    sign.title = barrier ?? withKeys(signed ? "Open it again, as a new revision" : "Freeze the reading with a hash", "sign");
    undo.disabled = signed || reading.undoable === null;
    redo.disabled = signed || reading.redoable === null;
    urgent.disabled = signed;
    const problems = reading.problems.length ? "Something in this reading is amiss: see Exam (3)." : "";
    const others = reading.readers.filter((reader) => reader !== room.reader);
    const colleagues = room.workflow === "single" && others.length > 0 ? `${others.join(" and ")} decided in this exam, too.` : "";
    notice.textContent = notice.title = session.barrier.value ?? (problems || colleagues);
    urgent.setAttribute("aria-pressed", String(reading.urgent));
  };
  const stops = [session.reading.subscribe(show), session.others.subscribe(show), session.barrier.subscribe(show)];
  return { element, close: () => stops.forEach((stop) => stop()) };
}
