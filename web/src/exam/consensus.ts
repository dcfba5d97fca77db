// Blind work: where two readers differ, and how far they agree. Open once both have signed.

import { api } from "../api/client.ts";
import type { Agreement, Difference, Verdict } from "../api/types.ts";
import { openDialog } from "../dialog.ts";
import { button, h } from "../dom.ts";
import { verdictOn } from "../model/rank.ts";
import { eventSubject } from "../model/subjects.ts";
import { clock, count, plural, value, VERDICTS } from "../model/words.ts";
import type { Screen } from "./screen.ts";
import type { Session } from "./session.ts";

export async function openConsensus(session: Session, screen: Screen): Promise<void> {
  const title = "Where the readers differ";
  let agreement: Agreement;
  try {
    agreement = await api.agreement(session.exam.exam);
  } catch (error) {
    openDialog(title, [h("p", {}, error instanceof Error ? error.message : String(error))]);
    return;
  }
  const [a, b] = agreement.readers;
  const names: Names = [a ?? "First reader", b ?? "Second reader"];
  const differences = worthARow(session, [...agreement.differences, ...undecidedByBoth(session)]);
  const mayDecide = session.room.role === "consensus";
  const show = (one: Difference): void => {
    dialog.close();
    const place = session.events.findIndex((event) => eventSubject(event) === one.subject);
    if (place >= 0) screen.choose(place);
    else screen.jump(one.head, one.first);
  };
  const row = (one: Difference): HTMLElement =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, nameOf(session, one)),
      h("td", {}, said(one.a)),
      h("td", {}, said(one.b)),
      mayDecide ? h("td", {}, decidedOn(session, one) ?? "open") : null,
      h("td", {}, button("Show", () => show(one), { name: `Show ${nameOf(session, one)}` })),
    );
  const open = differences.filter((one) => decidedOn(session, one) === null).length;
  const columns = ["What", ...names, ...(mayDecide ? ["Consensus"] : [])];
  const dialog = openDialog(
    title,
    [
      h("p", {}, h("b", {}, kappaWords(agreement))),
      agreement.undecided ? h("p", { class: "soft" }, `Not counted: ${plural(agreement.undecided, "event")} that one or both did not decide.`) : null,
      differences.length === 0 ? h("p", {}, "They differ nowhere.") : null,
      differences.length > 0 && mayDecide
        ? h("p", { class: "soft" }, `${count(open)} of ${count(differences.length)} open. Show goes to the frames: A, R or U then decides an event, M takes over a polyp that the detector missed. Enter goes to the next that is open.`)
        : null,
      differences.length > 0
        ? h(
            "table",
            { class: "values differences" },
            h("thead", {}, h("tr", {}, ...columns.map((name) => h("th", { scope: "col" }, name)), h("td"))),
            h("tbody", {}, ...differences.map(row)),
          )
        : null,
      crossTable(agreement, names),
    ].filter((part) => part !== null),
    { wide: true },
  );
}

type Names = readonly [string, string];

/** Nobody differs about what nobody decided; it is open all the same. */
function undecidedByBoth(session: Session): Difference[] {
  const readings = session.others.value.map(({ reading }) => reading);
  return session.events
    .filter((event) => readings.length > 0 && readings.every((reading) => verdictOn(reading, event) === null))
    .map((event) => ({
      subject: eventSubject(event),
      a: "undecided",
      b: "undecided",
      head: event.head,
      first: event.first_frame,
      last: event.last_frame,
    }));
}

/** A finding that an accepted event brought along is the same difference as its event. */
function worthARow(session: Session, differences: readonly Difference[]): Difference[] {
  const subjects = new Set(differences.map(({ subject }) => subject));
  const within = (one: Difference): boolean =>
    session.events.some(
      (event) =>
        event.head === one.head &&
        subjects.has(eventSubject(event)) &&
        one.first <= event.last_frame &&
        event.first_frame <= one.last,
    );
  const at = ({ head, first }: Difference): number => session.positions.get(head)?.[first] ?? 0;
  return differences
    .filter((one) => !one.subject.startsWith("finding:") || !within(one))
    .toSorted((one, other) => at(one) - at(other));
}

/** What the consensus says of a difference; null while it says nothing. */
function decidedOn(session: Session, one: Difference): string | null {
  const { decisions, findings } = session.reading.value;
  const decision = decisions[one.subject]?.content.decision;
  if (decision) return said(decision);
  const met = findings.some(({ content }) => content.spans.some(({ head, first, last }) => head === one.head && first <= one.last && one.first <= last));
  return one.subject.startsWith("finding:") && met ? "finding" : null;
}

function said(word: string): string {
  const known = VERDICTS[word as Verdict];
  return known ? `${known.sign} ${known.words}` : word;
}

function kappaWords({ kappa, interval, reason, decided }: Agreement): string {
  if (kappa === null) return reason || "Kappa is not defined.";
  const [low, high] = interval ?? [];
  const between = low === undefined || high === undefined ? "" : ` (95 %: ${value(low)} to ${value(high)})`;
  return `Kappa ${value(kappa)}${between} over ${plural(decided, "event")} that both decided.`;
}

function nameOf(session: Session, one: Difference): string {
  const place = session.events.findIndex((event) => eventSubject(event) === one.subject);
  const { first } = one;
  const kind = place >= 0 ? `Event ${place + 1}` : one.subject.startsWith("finding:") ? "Finding" : "Frame";
  const time = session.hasTimes ? `, ${clock(session.positions.get(one.head)?.[first] ?? NaN)}` : "";
  const head = session.exam.heads.length > 1 ? `, head ${one.head}` : "";
  return `${kind}${time}${head}, frame ${count(first)}`;
}

function crossTable({ words, table }: Agreement, [a, b]: Names): HTMLElement {
  return h(
    "table",
    { class: "values crossed" },
    h("caption", {}, `Events that both decided: ${a} in rows, ${b} in columns`),
    h("thead", {}, h("tr", {}, h("td"), ...words.map((word) => h("th", { scope: "col" }, said(word))))),
    h(
      "tbody",
      {},
      ...table.map((cells, i) => h("tr", {}, h("th", { scope: "row" }, said(words[i] ?? "")), ...cells.map((n, j) => h("td", { class: i === j ? "same" : "" }, count(n))))),
    ),
  );
}
