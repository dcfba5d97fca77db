// Blind work: where two readers differ, and how far they agree. Open once both have signed.

import { api } from "../api/client.ts";
import type { Agreement, Difference, Decision } from "../api/types.ts";
import { openDialog } from "../dialog.ts";
import type { Screen } from "../exam/screen.ts";
import type { Session } from "../exam/session.ts";
import { decidedOn, isFinding, toDecide } from "../model/differences.ts";
import { eventSubject } from "../model/subjects.ts";
import { clock, count, plural, value, DECISIONS } from "../model/words.ts";

export async function openConsensus(session: Session, screen: Screen): Promise<void> {
  const title = "Where the readers differ";
  try {
    const agreement = await api.agreement(session.exam.exam);
    openDialog(title, (close) => <Consensus session={session} screen={screen} agreement={agreement} close={close} />, { wide: true });
  } catch (error) {
    openDialog(title, () => <p>{error instanceof Error ? error.message : String(error)}</p>);
  }
}

interface Props {
  session: Session;
  screen: Screen;
  agreement: Agreement;
  close(): void;
}

function Consensus({ session, screen, agreement, close }: Props) {
  const { readers, differences: all, undecided } = agreement;
  const names = [readers[0] ?? "First reader", readers[1] ?? "Second reader"] as const;
  const readings = session.others.value.map(({ reading }) => reading);
  const differences = toDecide(all, readings, session.events, session.positions);
  const mayDecide = session.room.role === "consensus";
  const open = differences.filter((one) => decidedOn(session.reading.value, one) === null).length;
  const show = (one: Difference): void => {
    close();
    const place = session.events.findIndex((event) => eventSubject(event) === one.subject);
    if (place >= 0) screen.choose(place);
    else screen.jump(one.head, one.first);
  };
  return (
    <>
      <p><b>{kappaWords(agreement)}</b></p>
      {undecided > 0 && <p class="soft">Not counted: {plural(undecided, "event")} that one or both did not decide.</p>}
      {differences.length === 0 && <p>They differ nowhere.</p>}
      {differences.length > 0 && mayDecide && (
        <p class="soft">
          {count(open)} of {count(differences.length)} open. Show goes to the frame: A, R or U decides an event, M marks a
          polyp that the detector missed. Enter goes to the next open event.
        </p>
      )}
      {differences.length > 0 && (
        <table class="values differences">
          <thead>
            <tr>
              {["What", ...names, ...(mayDecide ? ["Consensus"] : []), "Frame"].map((name) => (
                <th key={name} scope="col">{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {differences.map((one) => {
              const name = nameOf(session, one);
              return (
                <tr key={one.subject}>
                  <th scope="row">{name}</th>
                  <td>{decisionWords(one.a)}</td>
                  <td>{decisionWords(one.b)}</td>
                  {mayDecide && <td>{decisionWords(decidedOn(session.reading.value, one) ?? "open")}</td>}
                  <td>
                    <button type="button" aria-label={`Show ${name}`} onClick={() => show(one)}>Show</button>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      <CrossTable agreement={agreement} names={names} />
    </>
  );
}

function CrossTable({ agreement: { words, table }, names: [a, b] }: { agreement: Agreement; names: readonly [string, string] }) {
  return (
    <table class="values crossed">
      <caption>Events that both decided: {a} in rows, {b} in columns</caption>
      <thead>
        <tr>
          <td />
          {words.map((word) => (
            <th key={word} scope="col">{decisionWords(word)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.map((cells, i) => (
          <tr key={i}>
            <th scope="row">{decisionWords(words[i] ?? "")}</th>
            {cells.map((n, j) => (
              <td key={j} class={i === j ? "same" : ""}>{count(n)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function decisionWords(word: string): string {
  const known = DECISIONS[word as Decision];
  return known ? `${known.sign} ${known.words}` : word;
}

function kappaWords({ kappa, interval, reason, decided }: Agreement): string {
  if (kappa === null) return reason || "Kappa is not defined.";
  const [low, high] = interval ?? [];
  const between = low === undefined || high === undefined ? "" : ` (95 %: ${value(low)} to ${value(high)})`;
  return `Kappa ${value(kappa)}${between} over ${plural(decided, "event")} that both decided.`;
}

/** "Event 3, 0:12:04, head 0, frame 1 204". */
function nameOf({ events, exam, hasTimes, positions }: Session, one: Difference): string {
  const place = events.findIndex((event) => eventSubject(event) === one.subject);
  const kind = place >= 0 ? `Event ${place + 1}` : isFinding(one) ? "Finding" : "Frame";
  const frame = events[place]?.best_frame ?? one.first; // as everywhere: the time of an event is that of its best frame
  const time = hasTimes ? `, ${clock(positions.get(one.head)?.[frame] ?? NaN)}` : "";
  const head = exam.heads.length > 1 ? `, head ${one.head}` : "";
  return `${kind}${time}${head}, frame ${count(frame)}`;
}
