// The list of exams: urgent first, one row each, all by keyboard.

import { api } from "../api/client.ts";
import type { ExamRow, Room } from "../api/types.ts";
import { cleaner, fill, h } from "../dom.ts";
import { saveState } from "../exam/savestate.ts";
import { withKeys } from "../keymap.ts";
import { whoReads } from "../leaving.ts";
import { rankExams } from "../model/rank.ts";
import { clock, count, plural, readerWords } from "../model/words.ts";
import type { Saver } from "../saving/saver.ts";
import { themeButton } from "../theme.ts";
import { announce } from "../announce.ts";
import { showHelp } from "../help.ts";

const STATE_SIGNS: Record<string, string> = { unread: "○", "in reading": "◐", signed: "●" };
const COLUMNS = ["Exam", "State", "Found by the sieve", "Decided", "Findings", "Length", "Remarks"];

export interface ListPage {
  element: HTMLElement;
  refresh(): void;
  key(event: KeyboardEvent): boolean;
  close(): void;
}

export function listPage(room: Room, saver: Saver, left: string | null, open: (exam: string) => void): ListPage {
  const clean = cleaner();
  const save = saveState(saver);
  clean.add(() => save.close());
  const body = h("tbody");
  const sum = h("p", { class: "sum" }, "Looking for exams …");
  const table = h(
    "table",
    { class: "exams", "aria-label": "Exams" },
    h("thead", {}, h("tr", {}, ...COLUMNS.map((name) => h("th", { scope: "col" }, name)))),
    body,
  );
  const element = h(
    "main",
    { class: "list" },
    h(
      "header",
      { class: "bar" },
      h("h1", {}, "capsieve ", h("span", { class: "soft" }, "reading room")),
      h("span", { class: "gap" }),
      save.element,
      whoReads(room, saver),
      h("button", { type: "button", class: "quiet icon", "aria-label": "Keys", title: withKeys("Keys", "help"), onclick: showHelp }, "?"),
      themeButton(),
    ),
    h("div", { class: "listbody" }, sum, table),
  );

  const cells = (row: ExamRow): HTMLElement[] => [
    h(
      "td",
      { class: "name" },
      row.urgent ? h("span", { class: "urgent", title: "marked urgent" }, "▲ urgent") : null,
      row.readable
        ? h("a", { href: `#/exam/${encodeURIComponent(row.exam)}`, "data-exam": row.exam, onclick: (event: Event) => event.stopPropagation() }, row.exam)
        : h("span", { class: "soft" }, row.exam),
      row.heads.length > 1 ? h("div", { class: "soft small" }, `${count(row.heads.length)} heads`) : null,
    ),
    h(
      "td",
      {},
      ...(row.readable
        ? [h("span", { class: "state", "aria-hidden": "true" }, STATE_SIGNS[row.state] ?? "○"), ` ${row.state}`]
        : [h("span", { class: "trouble" }, "✕ cannot be opened")]),
      row.revision > 1 ? h("span", { class: "soft" }, `, revision ${row.revision}`) : null,
      row.readers.length > 1
        ? h("div", { class: "soft small" }, row.readers.map((r) => `${readerWords(r.reader)}: ${r.state}`).join(", "))
        : null,
    ),
    row.readable
      ? h(
          "td",
          {},
          row.events === 0 ? "nothing flagged" : plural(row.events, "event"),
          h("div", { class: "soft small" }, `${count(row.to_read)} of ${plural(row.frames, "frame")} to read`),
        )
      : h("td", {}, "–"),
    h("td", {}, progress(row.decided_events, row.events), row.to_validate > 0 ? h("div", { class: "soft small" }, `${count(row.to_validate)} to validate`) : null),
    h("td", { class: "number" }, row.readable ? count(row.findings) : "–"),
    h("td", { class: "number" }, row.duration_s === null ? "–" : clock(row.duration_s)),
    h("td", { class: "soft small remarks" }, remarks(row)),
  ];

  const show = (rows: ExamRow[]): void => {
    const focused = (document.activeElement as HTMLElement | null)?.dataset?.["exam"];
    fill(
      body,
      ...rankExams(rows).map((row) =>
        h(
          "tr",
          {
            "data-exam": row.exam,
            class: `${row.state === "signed" ? "done" : ""}${row.readable ? "" : " unreadable"}`,
            onclick: () => row.readable && open(row.exam),
          },
          ...cells(row),
        ),
      ),
    );
    table.hidden = rows.length === 0;
    const open_ = rows.filter((row) => row.state !== "signed" && row.readable).length;
    const urgent = rows.filter((row) => row.urgent && row.state !== "signed").length;
    const words =
      rows.length === 0
        ? "There are no exams here yet. They appear when capsieve screen has written them."
        : `${plural(rows.length, "exam")}, ${count(open_)} to read${urgent ? `, ${count(urgent)} urgent` : ""}.`;
    fill(sum, words, rows.length ? h("span", { class: "soft" }, " ↑ ↓ choose, Enter opens, ? shows all keys.") : null);
    const wanted = focused ?? left;
    const again = links().find((link) => link.dataset["exam"] === wanted) ?? links()[0];
    if (focused !== undefined || document.activeElement === document.body) again?.focus({ preventScroll: true });
    if (words !== said) announce(words);
    said = words;
  };
  let said = "";
  const links = (): HTMLElement[] => [...body.querySelectorAll<HTMLElement>("a[data-exam]")];

  const refresh = (): void => {
    api.exams().then(show, (error: Error) => fill(sum, h("span", { class: "trouble" }, error.message)));
  };
  refresh();
  // A screening that ends tells nobody: the list looks again when somebody comes back to it. No
  // clock does it, for an empty chair must not keep a session alive.
  const back = (): void => {
    if (!document.hidden) refresh();
  };
  addEventListener("focus", back);
  document.addEventListener("visibilitychange", back);
  clean.add(() => {
    removeEventListener("focus", back);
    document.removeEventListener("visibilitychange", back);
  });

  return {
    element,
    refresh,
    key(event) {
      const all = links();
      const at = all.indexOf(document.activeElement as HTMLElement);
      const to: Record<string, number> = {
        ArrowDown: at + 1,
        ArrowUp: at - 1,
        Home: 0,
        End: all.length - 1,
      };
      if (!(event.key in to)) return false;
      all[Math.min(Math.max(to[event.key] as number, 0), all.length - 1)]?.focus();
      return true;
    },
    close: () => clean.clean(),
  };
}

function progress(done: number, all: number): HTMLElement | string {
  if (all === 0) return "–";
  return h(
    "div",
    { class: "progress" },
    h("progress", { max: all, value: done, "aria-label": `${done} of ${all} events decided` }),
    h("span", { class: "small soft" }, `${count(done)} of ${count(all)}`),
  );
}

function remarks(row: ExamRow): string {
  const incomplete = row.readable && !row.complete ? "Screening is not complete." : "";
  return [incomplete, ...row.problems].filter(Boolean).join(" ");
}
