// Why this frame was flagged or not: first for physicians, then the details; and the marks over it.

import type { Signal } from "@preact/signals";
import type { Evidence } from "../../api/types.ts";
import { REASONS, value } from "../../model/words.ts";
import type { Explainer } from "../evidence.ts";
import { mount, type Mounted } from "../mount.tsx";
import type { Screen } from "../screen.ts";
import type { Session } from "../session.ts";

export interface Overlays {
  /** Where the detector points, on the best frame of an event. */
  place: boolean;
  /** Everything that it found. */
  shapes: boolean;
  map: string | null;
}

interface Props {
  session: Session;
  screen: Screen;
  explainer: Explainer;
  overlays: Signal<Overlays>;
}

export const whyPanel = (props: Props): Mounted => mount("div", "why", <Why {...props} />);

function Why({ session, screen, explainer, overlays }: Props) {
  const known = explainer.known.value;
  const { head, frame, visible } = screen.here();
  const maps = known.state === "known" ? known.evidence.maps : [];
  const now = overlays.value;
  return (
    <>
      <p class="reasonline">{visible ? reasonWords(session, head, frame) : "This frame has no picture."}</p>
      {known.state === "asking" && <p class="soft">Asking the detector …</p>}
      {known.state === "trouble" && <p class="trouble">{known.sentence}</p>}
      {known.state === "none" && <p class="soft">Stop on a frame to see the details.</p>}
      {known.state === "known" && <Details evidence={known.evidence} />}
      <div class="overlays" role="group" aria-label="Over the frame">
        <h3>
          Over the frame <kbd aria-hidden="true">V</kbd>
        </h3>
        <button type="button" aria-pressed={now.place && !now.shapes} onClick={() => (overlays.value = { ...now, place: !now.place || now.shapes, shapes: false })}>
          Place
        </button>
        <button type="button" aria-pressed={now.shapes} onClick={() => (overlays.value = { ...now, place: true, shapes: !now.shapes })}>
          All marks
        </button>
        {maps.map((map) => (
          <button type="button" aria-pressed={now.map === map} onClick={() => (overlays.value = { ...now, map: now.map === map ? null : map })}>
            {`Map: ${map}`}
            <kbd aria-hidden="true">X</kbd>
          </button>
        ))}
        {now.shapes && (
          <p class="small soft legend">
            <span class="sign ball" /> best bulge <span class="sign other" /> other bulges <span class="sign ellipse" /> raised spot{" "}
            <span class="sign fallen" /> ruled out
          </p>
        )}
      </div>
    </>
  );
}

/** The decision of the detector in the words of a physician, from the tables alone. */
function reasonWords({ columns, exam }: Session, head: number, frame: number): string {
  const table = columns.get(head);
  if (table === undefined) return "";
  if (table.status[frame] === 2) return "This frame was not screened.";
  const reason = table.reasons[table.reason[frame] as number] ?? "";
  const bulge = exam.score.name === "R_max";
  const size = `${bulge ? "size" : "score"} ${value(table.score[frame])}`;
  const limit = exam.threshold === null ? "" : exam.reading_list ? `; the list ends at ${value(exam.threshold)}` : `, threshold ${value(exam.threshold)}`;
  const earlier = table.duplicate_of[frame] as number;
  const like = earlier >= 0 ? ` Near-duplicate of frame ${earlier}.` : "";
  const found = bulge ? "A round bulge" : "A possible polyp";
  if (table.flagged[frame] === 1) return `${found}: ${size}${limit}.${like}`;
  if (reason === "radius-low") return `A bulge, but too small: ${size}${limit}.${like}`;
  if (reason === "score-low") return `${exam.reading_list ? "Not on the reading list" : "Not flagged"}: ${size}${limit}.${like}`;
  const words = REASONS[reason] ?? reason;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.${like}`;
}

function Details({ evidence: { words, values } }: { evidence: Evidence }) {
  return (
    <details>
      <summary>Details</summary>
      {words.map((sentence) => (
        <p class="small">{sentence}</p>
      ))}
      {values.length > 0 && (
        <table class="values">
          <caption>Values and their bounds</caption>
          <tbody>
            {values.map((one) => (
              <tr class={one.holds ? "" : "fails"}>
                <th scope="row">
                  {one.words}
                  <span class="soft small">{` ${one.name}`}</span>
                </th>
                <td class="number">{value(one.value)}</td>
                <td class="soft small">{bounds(one.low, one.high)}</td>
                <td title={one.holds ? "holds" : "does not hold"}>{one.holds ? "✓" : "✕"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}

function bounds(low: number | null, high: number | null): string {
  if (low !== null && high !== null) return `${value(low)} to ${value(high)}`;
  if (low !== null) return `at least ${value(low)}`;
  return high === null ? "" : `at most ${value(high)}`;
}
