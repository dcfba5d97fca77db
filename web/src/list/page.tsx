// The list of exams: search, filter, order, and one row for each exam.

import { signal, useComputed, useSignal, type Signal } from "@preact/signals";
import { render, type ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useEffect, useRef } from "preact/hooks";
import { api } from "../api/client.ts";
import type { ExamRow, Room } from "../api/types.ts";
import { announce } from "../announce.ts";
import { showHelp } from "../dialogs/help.tsx";
import { WhoReads } from "../dialogs/leaving.tsx";
import { SaveState } from "../dialogs/savestate.tsx";
import { withKeys } from "../keymap.ts";
import { toReadWords } from "../model/summary.ts";
import { clock, count, plural, readerWords } from "../model/words.ts";
import type { Saver } from "../saving/saver.ts";
import { canRead, FILTERS, inOrder, matches, nextOrder, passes, type Column, type Filter, type Order } from "./rows.ts";

export interface ListPage {
  element: HTMLElement;
  refresh(): void;
  key(event: KeyboardEvent): boolean;
  close(): void;
}

const COLUMNS: readonly (readonly [Column | null, string])[] = [
  ["exam", "Exam"],
  ["state", "State"],
  ["date", "Screened"],
  ["events", "Events"],
  ["decided", "Decided"],
  ["findings", "Findings"],
  ["length", "Length"],
  [null, "Remarks"],
];
const EVERY = 15_000; // milliseconds
const BLOCK = 200; // rows that are drawn at once
const STATE_SIGNS = { unread: "○", "in reading": "◐", signed: "●" };

// Kept while the window is open: who comes back from an exam finds the list as they left it.
const search = signal("");
const filter = signal<Filter>("all");
const order = signal<Order>(null);

export function listPage(room: Room, saver: Saver, left: string | null, open: (exam: string) => void): ListPage {
  const rows = signal<readonly ExamRow[] | null>(null);
  const trouble = signal("");
  const element = document.createElement("main");
  element.className = "list";
  const show = (found: readonly ExamRow[] | null): void => {
    if (found !== null) rows.value = found;
    trouble.value = "";
  };
  const fail = (error: Error): void => void (trouble.value = error.message);
  const refresh = (): void => void api.exams().then(show, fail);
  const look = (): void => {
    if (!document.hidden && rows.value !== null) api.examsIfChanged().then(show, fail);
  };
  const timer = setInterval(look, EVERY);
  document.addEventListener("visibilitychange", look);
  refresh();
  render(
    <>
      <header class="bar">
        <h1>
          capsieve <span class="soft">reading room</span>
        </h1>
        <span class="gap" />
        <SaveState room={room} saver={saver} />
        <WhoReads room={room} saver={saver} />
        <button type="button" class="quiet icon" aria-label="Keys" title={withKeys("Keys", "help")} onClick={showHelp}>
          ?
        </button>
      </header>
      <div class="listbody">
        {/* A component of its own: the bar is not drawn again with every answer. */}
        <Exams room={room} rows={rows} trouble={trouble} left={left} open={open} />
      </div>
    </>,
    element,
  );

  const links = (): HTMLElement[] => [...element.querySelectorAll<HTMLElement>("a[data-exam]")];
  return {
    element,
    refresh,
    key(event) {
      const all = links();
      const at = all.indexOf(document.activeElement as HTMLElement);
      const typing = (event.target as HTMLElement).tagName === "INPUT";
      const go = (to: number) => (): void => all[Math.min(Math.max(to, 0), all.length - 1)]?.focus();
      const moves: Record<string, () => void> = { ArrowDown: go(at + 1), ArrowUp: go(at - 1) };
      const others: Record<string, () => void> = {
        Home: go(0),
        End: go(all.length - 1),
        "/": () => element.querySelector<HTMLInputElement>("input[type=search]")?.focus(),
        "?": showHelp,
      };
      const run = moves[event.key] ?? (typing || event.ctrlKey || event.metaKey ? undefined : others[event.key]);
      run?.();
      return run !== undefined;
    },
    close() {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
      render(null, element);
    },
  };
}

interface ExamsProps {
  room: Room;
  rows: { value: readonly ExamRow[] | null };
  trouble: { value: string };
  left: string | null;
  open: (exam: string) => void;
}

function Exams({ room, rows, trouble, left, open }: ExamsProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const most = useSignal(BLOCK);
  const found = useComputed(() => (rows.value ?? []).filter((row) => matches(row, search.value)));
  const shown = useComputed(() => inOrder(found.value.filter((row) => passes(row, filter.value)), order.value, room));
  const all = rows.value;
  const words = all === null ? "" : sumOf(all, room);
  useEffect(() => {
    if (words !== "") announce(words);
  }, [words]);
  useEffect(() => {
    if (all === null || document.activeElement !== document.body) return;
    const links = [...(body.current?.querySelectorAll<HTMLElement>("a[data-exam]") ?? [])];
    (links.find((link) => link.dataset["exam"] === left) ?? links[0])?.focus();
  }, [all === null]);

  if (trouble.value !== "" && all === null) return <p class="trouble">{trouble.value}</p>;
  if (all === null) return <p class="soft">Looking for exams …</p>;
  if (all.length === 0) return <p>There are no exams here yet. They appear when capsieve screen has written them.</p>;
  return (
    <>
      <div class="sum">
        <p>
          {words} <span class="soft keyshint">↑ ↓ choose, Enter opens, / searches, ? shows all keys.</span>
          {trouble.value !== "" && <span class="trouble"> {trouble.value}</span>}
        </p>
        <input
          type="search"
          aria-label="Search exams"
          placeholder="Search exam or reader"
          value={search.value}
          onInput={(event) => void (search.value = event.currentTarget.value)}
        />
        <div class="states" role="group" aria-label="State">
          {FILTERS.map(([name, label]) => {
            const n = found.value.filter((row) => passes(row, name)).length;
            const always = name === "all" || name === filter.value || name in STATE_SIGNS;
            return n === 0 && !always ? null : (
              <button key={name} type="button" aria-pressed={filter.value === name} onClick={() => void (filter.value = name)}>
                {label} <span class="soft">{count(n)}</span>
              </button>
            );
          })}
        </div>
      </div>
      {shown.value.length === 0 && <p class="soft">No exam matches this search and filter.</p>}
      <table class="exams" aria-label="Exams" hidden={shown.value.length === 0}>
        <thead>
          <tr>
            {COLUMNS.map(([by, label]) => (
              <Heading key={label} by={by} label={label} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {shown.value.slice(0, most.value).map((row) => (
            <Row key={row.exam} row={row} json={JSON.stringify(row)} room={room} open={open} />
          ))}
        </tbody>
      </table>
      {shown.value.length > most.value && <More most={most} />}
    </>
  );
}

/** Below the last row: shows more rows when it comes near. */
function More({ most }: { most: Signal<number> }) {
  const place = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const more = (seen: IntersectionObserverEntry[]): void => {
      if (seen.some(({ isIntersecting }) => isIntersecting)) most.value += BLOCK;
    };
    const observer = new IntersectionObserver(more, { rootMargin: "600px" });
    if (place.current) observer.observe(place.current);
    return () => observer.disconnect();
  }, [most.value]);
  return <p ref={place} class="soft">More exams …</p>;
}

function sumOf(rows: readonly ExamRow[], room: Room): string {
  const open = rows.filter((row) => canRead(row, room));
  const urgent = open.filter((row) => row.urgent).length;
  const of = room.role === "consensus" ? "decide" : "read";
  return `${plural(rows.length, "exam")}, ${count(open.length)} for you to ${of}${urgent ? `, ${count(urgent)} urgent` : ""}.`;
}

function Heading({ by, label }: { by: Column | null; label: string }) {
  if (by === null) return <th scope="col">{label}</th>;
  const now = order.value;
  const sorted = now?.by === by ? (now.down ? "descending" : "ascending") : undefined;
  return (
    <th scope="col" class={`col-${by}`} aria-sort={sorted}>
      <button type="button" class="sort" title={`Sort by ${label.toLowerCase()}`} onClick={() => void (order.value = nextOrder(now, by))}>
        {label}
        <span aria-hidden="true">{sorted === undefined ? "" : sorted === "ascending" ? " ↑" : " ↓"}</span>
      </button>
    </th>
  );
}

interface RowProps {
  row: ExamRow;
  /** The row as text: it is drawn again only if something in it has changed. */
  json: string;
  room: Room;
  open: (exam: string) => void;
}

const Row = memo(
  function Row({ row, room, open }: RowProps) {
    const none = <span class="soft">–</span>;
    return (
      <tr
        data-exam={row.exam}
        class={`${row.state === "signed" ? "done" : ""}${row.readable ? "" : " unreadable"}`}
        onClick={() => row.readable && open(row.exam)}
      >
        <td class="name">
          {row.urgent && <span class="urgent" title="Marked urgent">▲ urgent</span>}
          {row.readable ? (
            <a href={`#/exam/${encodeURIComponent(row.exam)}`} data-exam={row.exam} onClick={(event) => event.stopPropagation()}>
              {row.exam}
            </a>
          ) : (
            <span class="soft">{row.exam}</span>
          )}
          {row.heads.length > 1 && <Small>{count(row.heads.length)} heads</Small>}
        </td>
        <td>
          <StateWords row={row} room={room} />
        </td>
        <td class="col-date" title={row.screened_at ?? ""}>
          {row.screened_at === null ? none : day(row.screened_at)}
        </td>
        <td class="col-events">
          {!row.readable ? none : row.events === 0 ? "none" : plural(row.events, "event")}
          {row.readable && row.events > 0 && (
            <Small>
              {count(row.to_read)} of {plural(row.frames, "frame")} to read
            </Small>
          )}
        </td>
        <td class="col-decided">
          <Decided row={row} />
        </td>
        <td class="col-findings number" data-label="Findings">{row.readable ? count(row.findings) : none}</td>
        <td class="col-length number" data-label="Length">{row.duration_s === null ? none : clock(row.duration_s)}</td>
        <td class="remarks small">
          {remarks(row).map((sentence) => (
            <div key={sentence}>{sentence}</div>
          ))}
        </td>
      </tr>
    );
  },
  (before, after) => before.json === after.json,
);

const Small = ({ children }: { children: ComponentChildren }) => <div class="soft small">{children}</div>;

function StateWords({ row, room }: { row: ExamRow; room: Room }) {
  if (!row.readable) return <span class="trouble">✕ cannot be opened</span>;
  const { readers } = row;
  const states = readers.map(({ reader, state }) => `${readerWords(reader)}: ${state}`).join(", ");
  const names = readers.map(({ reader }) => readerWords(reader)).join(", ");
  return (
    <>
      <span class="state" aria-hidden="true">{STATE_SIGNS[row.state]}</span> {row.state}
      {row.revision > 1 && <span class="soft">, revision {row.revision}</span>}
      {readers.length > 0 && <Small>{room.workflow === "blind" ? states : `by ${names}`}</Small>}
      {room.workflow === "blind" && row.state !== "signed" && !canRead(row, room) && (
        <Small>{room.role === "consensus" ? "both must sign before the consensus" : "two others read this exam"}</Small>
      )}
    </>
  );
}

function Decided({ row: { progress, ...row } }: { row: ExamRow }) {
  const { decided, displayed, events, offered, opened } = progress;
  const words = `${count(decided)} of ${count(offered)}${offered < events ? " offered" : ""}`;
  return (
    <>
      {events > 0 && (
        <div class="progress" title={`${count(events)} events: ${count(offered)} offered, ${count(opened)} opened, ${count(decided)} decided`}>
          <progress max={offered} value={decided} aria-label={`${words} events decided`} />
          <span class="small soft">{words}</span>
        </div>
      )}
      {displayed > 0 && <Small>{toReadWords(progress)}</Small>}
      {row.to_validate > 0 && <Small>{count(row.to_validate)} to validate</Small>}
    </>
  );
}

function remarks(row: ExamRow): string[] {
  const incomplete = row.readable && !row.complete ? ["Screening is not complete."] : [];
  const range = row.out_of_range ? ["⚠ Outside the range that the detector was tuned on."] : [];
  return [...incomplete, ...range, ...row.problems, ...(row.flagging ? [row.flagging] : [])];
}

const day = (iso: string): string => new Date(iso).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
