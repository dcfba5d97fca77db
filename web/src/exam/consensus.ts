// Blind work: where two readers differ, and how far they agree. Open once both have signed.

import { api } from "../api/client.ts";
import type { Agreement, Difference } from "../api/types.ts";
import { openDialog } from "../dialog.ts";
import { button, h } from "../dom.ts";
import { eventSubject } from "../model/subjects.ts";
import { clock, count, plural, value } from "../model/words.ts";
import type { Screen } from "./screen.ts";
import type { Session } from "./session.ts";

export async function openConsensus(session: Session, screen: Screen): Promise<void> {
  let agreement: Agreement;
  try {
    agreement = await api.agreement(session.exam.exam);
  } catch (error) {
    openDialog("Where the readers differ", [h("p", {}, error instanceof Error ? error.message : String(error))]);
    return;
  }
  const { differences } = agreement;
  const mayDecide = session.room.role === "consensus";
  const show = (one: Difference): void => {
    dialog.close();
    const place = session.events.findIndex((event) => eventSubject(event) === one.subject);
    if (place >= 0) screen.choose(place);
    else if (one.frames[0] !== undefined) screen.jump(one.head, one.frames[0]);
  };
  const row = (one: Difference): HTMLElement => {
    const decided = session.reading.get().verdicts[one.subject]?.verdict;
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, nameOf(session, one)),
      h("td", {}, one.a),
      h("td", {}, one.b),
      mayDecide ? h("td", {}, decided ?? "open") : null,
      h("td", {}, button("Show", () => show(one))),
    );
  };
  const columns = ["What", "First reader", "Second reader", ...(mayDecide ? ["Consensus"] : []), ""];
  const dialog = openDialog(
    "Where the readers differ",
    [
      h("p", {}, h("b", {}, kappaWords(agreement))),
      differences.length === 0 ? h("p", {}, "They differ nowhere.") : null,
      differences.length > 0 && mayDecide ? h("p", { class: "soft" }, "Show goes to the frames; A, R or U then decides.") : null,
      h(
        "table",
        { class: "values differences" },
        h("thead", {}, h("tr", {}, ...columns.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...differences.map(row)),
      ),
      crossTable(agreement),
    ].filter((part) => part !== null),
    { wide: true },
  );
}

function kappaWords({ kappa, interval, reason, decided }: Agreement): string {
  if (kappa === null) return reason ?? "Kappa cannot be worked out.";
  const [low, high] = interval ?? [];
  const between = low === undefined || high === undefined ? "" : ` (95 %: ${value(low)} to ${value(high)})`;
  return `Kappa ${value(kappa)}${between}${decided === undefined ? "" : ` over ${plural(decided, "event")} that both decided`}.`;
}

function nameOf(session: Session, one: Difference): string {
  const place = session.events.findIndex((event) => eventSubject(event) === one.subject);
  const first = one.frames[0] ?? 0;
  const time = session.hasTimes ? `, ${clock(session.positions.get(one.head)?.[first] ?? NaN)}` : "";
  const kind = place >= 0 ? `event ${place + 1}` : one.subject.split(":")[0];
  return `${kind}, frame ${count(first)}${time}`;
}

function crossTable({ words, table }: Agreement): HTMLElement | null {
  if (!words || table.length !== words.length) return null;
  return h(
    "table",
    { class: "values" },
    h("caption", {}, "Events that both decided: first reader in rows, second in columns"),
    h("thead", {}, h("tr", {}, h("th"), ...words.map((word) => h("th", { scope: "col" }, word)))),
    h(
      "tbody",
      {},
      ...table.map((cells, i) => h("tr", {}, h("th", { scope: "row" }, words[i]), ...cells.map((n) => h("td", {}, count(n))))),
    ),
  );
}
