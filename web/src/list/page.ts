// The list of exams: urgent first, one row each, all by keyboard.

import { api } from "../api/client.ts";
import type { ExamRow, Room } from "../api/types.ts";
import { fill, h } from "../dom.ts";
import { rankExams } from "../model/rank.ts";
import { clock, count, plural } from "../model/words.ts";
import { themeButton } from "../theme.ts";
import { announce } from "../announce.ts";
import { showHelp } from "../help.ts";

const STATE_SIGNS: Record<string, string> = { unread: "○", "in reading": "◐", signed: "●" };
const COLUMNS = ["Exam", "State", "Found by the sieve", "Decided", "Findings", "Length", "Remarks"];

export interface ListPage {
  element: HTMLElement;
  refresh(): void;
  key(event: KeyboardEvent): boolean;
}

export function listPage(room: Room, open: (exam: string) => void): ListPage {
  const body = h("tbody");
  const sum = h("p", { class: "sum" }, "Looking for exams …");
  const table = h(
    "table",
    { class: "exams", "aria-label": "Exams" },
    h("thead", {}, h("tr", {}, ...COLUMNS.map((name) => h("th", { scope: "col" }, name)))),
    body,
  );
  const who = `${room.reader}, ${room.role}`;
  const element = h(
    "main",
    { class: "list" },
    h(
      "header",
      { class: "bar" },
      h("h1", {}, "capsieve ", h("span", { class: "soft" }, "reading room")),
      h("span", { class: "gap" }),
      h("span", { class: "soft", title: "Who reads" }, who),
      h("button", { type: "button", class: "quiet icon", title: "Keys", onclick: showHelp }, "?"),
      themeButton(),
    ),
    h("div", { class: "listbody" }, sum, table),
  );

  const cells = (row: ExamRow): HTMLElement[] => [
    h(
      "td",
      { class: "name" },
      row.urgent ? h("span", { class: "urgent", title: "marked urgent" }, "▲ urgent") : null,
      h("a", { href: `#/exam/${encodeURIComponent(row.exam)}` }, row.title || row.exam),
    ),
    h(
      "td",
      {},
      h("span", { class: `state ${row.state.replace(" ", "-")}` }, STATE_SIGNS[row.state] ?? "○"),
      ` ${row.state}`,
      row.version > 1 ? h("span", { class: "soft" }, `, version ${row.version}`) : null,
      row.readers.length > 1
        ? h("div", { class: "soft small" }, row.readers.map((r) => `${r.reader}: ${r.state}`).join(", "))
        : null,
    ),
    h(
      "td",
      {},
      row.events === 0 ? "nothing flagged" : plural(row.events, "event"),
      h("div", { class: "soft small" }, `${count(row.to_read)} of ${plural(row.frames, "frame")} to read`),
    ),
    h("td", {}, progress(row.decided_events, row.events)),
    h("td", { class: "number" }, count(row.findings)),
    h("td", { class: "number" }, row.duration_s === null ? "–" : clock(row.duration_s)),
    h("td", { class: "soft small" }, remarks(row)),
  ];

  const show = (rows: ExamRow[]): void => {
    const focused = (document.activeElement as HTMLElement | null)?.dataset?.["exam"];
    fill(
      body,
      ...rankExams(rows).map((row) =>
        h(
          "tr",
          {
            tabindex: 0,
            "data-exam": row.exam,
            class: row.state === "signed" ? "done" : "",
            "aria-label": `${row.title || row.exam}, ${row.state}${row.urgent ? ", urgent" : ""}, ${plural(row.events, "event")}`,
            onclick: () => open(row.exam),
          },
          ...cells(row),
        ),
      ),
    );
    const open_ = rows.filter((row) => row.state !== "signed").length;
    const urgent = rows.filter((row) => row.urgent && row.state !== "signed").length;
    const words = `${plural(rows.length, "exam")}, ${count(open_)} to read${urgent ? `, ${count(urgent)} urgent` : ""}.`;
    fill(sum, words, rows.length ? h("span", { class: "soft" }, " ↑ ↓ choose, Enter opens, ? shows all keys.") : null);
    const again = focused
      ? [...body.children].find((row) => (row as HTMLElement).dataset["exam"] === focused)
      : body.firstElementChild;
    (again as HTMLElement | null)?.focus({ preventScroll: true });
    announce(words);
  };

  const refresh = (): void => {
    api.exams().then(show, (error: Error) => fill(sum, h("span", { class: "trouble" }, error.message)));
  };
  refresh();

  return {
    element,
    refresh,
    key(event) {
      const rows = [...body.children] as HTMLElement[];
      const at = rows.indexOf(document.activeElement as HTMLElement);
      const to: Record<string, number> = {
        ArrowDown: at + 1,
        ArrowUp: at - 1,
        Home: 0,
        End: rows.length - 1,
      };
      if (event.key in to) {
        rows[Math.min(Math.max(to[event.key] as number, 0), rows.length - 1)]?.focus();
        return true;
      }
      const exam = rows[at]?.dataset["exam"];
      if (event.key !== "Enter" || exam === undefined) return false;
      open(exam);
      return true;
    },
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
  return [row.complete ? "" : "Screening is not complete.", ...row.problems].filter(Boolean).join(" ");
}
