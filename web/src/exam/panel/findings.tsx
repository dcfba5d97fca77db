// Findings: the list, and the form of the open one. Every choice is saved at once.

import { useSignal } from "@preact/signals";
import { render, type ComponentChildren } from "preact";
import type { Entry, FindingContent, Spot } from "../../api/types.ts";
import { toast } from "../../dialog.ts";
import { framesIn, withFrame } from "../../model/subjects.ts";
import { clock, count, LOCATIONS, PARIS, plural, SIZES } from "../../model/words.ts";
import { segmentProblem } from "../../model/landmarks.ts";
import { draftsOf } from "../../saving/drafts.ts";
import type { Decisions } from "../decisions.ts";
import type { Screen } from "../screen.ts";
import type { Session } from "../session.ts";

interface Props {
  session: Session;
  screen: Screen;
  decisions: Decisions;
  /** Open the menu of a key. */
  menu(command: "paris" | "segment"): void;
}

export function findingsPanel(props: Props): { element: HTMLElement; close(): void } {
  const element = document.createElement("div");
  element.className = "findings";
  render(<Findings {...props} />, element);
  return { element, close: () => render(null, element) };
}

function Findings(props: Props) {
  const { session, decisions } = props;
  const { findings, state } = session.reading.value;
  return (
    <>
      {findings.map(({ content, reader, role }, i) =>
        content.subject === session.finding.value ? (
          <Form key={content.subject} finding={content} number={i + 1} {...props} />
        ) : (
          <Row key={content.subject} finding={content} number={i + 1} by={role === "pre-reader" ? `${reader}, pre-reader` : reader} {...props} />
        ),
      )}
      {findings.length === 0 && <p class="soft">No findings yet. A accepts an event; M marks a polyp that the detector missed.</p>}
      <button type="button" disabled={state === "signed"} onClick={decisions.missed}>
        Mark a polyp on this frame<Key name="M" />
      </button>
    </>
  );
}

const Key = ({ name }: { name: string }) => <kbd aria-hidden="true">{name}</kbd>;

function placeWords(session: Session, { best }: FindingContent): string {
  const time = session.positions.get(best.head)?.[best.frame];
  const at = session.hasTimes && time !== undefined ? clock(time) : `frame ${count(best.frame)}`;
  return session.exam.heads.length > 1 ? `${at}, head ${best.head}` : at;
}

function words(finding: FindingContent): string {
  const size = SIZES.find(([name]) => name === finding.size)?.[1];
  const segment = LOCATIONS.find(([name]) => name === finding.segment)?.[1];
  return [finding.paris ?? "polyp", size, segment].filter(Boolean).join(", ");
}

type OneProps = Props & { finding: FindingContent; number: number };

function Row({ session, screen, finding, number, by }: OneProps & { by: Entry["reader"] }) {
  const choose = (): void => {
    screen.jump(finding.best.head, finding.best.frame);
    session.finding.value = finding.subject; // after the jump: a change of the head closes the open finding
  };
  return (
    <button type="button" class="finding" onClick={choose}>
      <span class="diamond" aria-hidden="true">◆</span>
      <span class="text">
        <b>{`${number}  ${words(finding)}`}</b>
        <span class="small soft">{`${placeWords(session, finding)} · ${by}`}</span>
      </span>
      {finding.urgent && <span class="urgent">▲ urgent</span>}
    </button>
  );
}

function Form({ session, screen, decisions, menu, finding, number }: OneProps) {
  const disabled = session.reading.value.state === "signed";
  const set = (change: Partial<FindingContent>): boolean => decisions.change(finding.subject, change);
  const other = session.exam.heads.find(({ head }) => head !== finding.best.head)?.head;
  const alsoOn = (head: number): void => {
    const spot = screen.player.drawn.value?.spots.find((one) => one.head === head);
    if (spot === undefined) return toast("Show both heads first (Shift+H).");
    if (spot.visible) set({ spans: withFrame(finding.spans, head, spot.frame) });
  };
  const { exam } = session.exam;
  const drafts = draftsOf(session.room);
  const typed = useSignal<string | null>(drafts.text(exam, finding.subject) || null);
  const type = (note: string): void => {
    typed.value = note;
    drafts.keep(exam, finding.subject, note === finding.note ? "" : note);
  };
  const saveNote = (note: string): void => {
    if (note !== finding.note && !set({ note })) return;
    typed.value = null;
    drafts.keep(exam, finding.subject, "");
  };
  const wrong = segmentProblem(finding, session.reading.value, session.positions);
  const here = (): Spot => {
    const { head, frame } = screen.here();
    return { head, frame };
  };
  return (
    <fieldset class="form">
      <legend>
        <span class="diamond" aria-hidden="true">◆</span>
        {` Finding ${number}, ${placeWords(session, finding)}`}
      </legend>
      {finding.missed && <p class="small">Missed by the detector.</p>}
      <div class="choices" role="group" aria-label="Size">
        <Label name="Size" of="S" />
        {SIZES.map(([size, text]) => {
          const pressed = size === finding.size;
          const next = pressed ? { size: null, size_on: null } : { size, size_on: here() };
          return (
            <button type="button" aria-pressed={pressed} title={size} disabled={disabled} onClick={() => set(next)}>
              {text}
            </button>
          );
        })}
      </div>
      {finding.size_on && (
        <p class="small soft">
          judged on{" "}
          <button type="button" class="link" onClick={() => finding.size_on && screen.jump(finding.size_on.head, finding.size_on.frame)}>
            {`frame ${count(finding.size_on.frame)}`}
          </button>
        </p>
      )}
      <Pick name="Paris" of="T" disabled={disabled} open={() => menu("paris")}>
        {PARIS.filter(([name]) => name === finding.paris).map(([name, text]) => `${name}, ${text}`)[0]}
      </Pick>
      <Pick name="Segment" of="O" disabled={disabled} open={() => menu("segment")}>
        {LOCATIONS.find(([name]) => name === finding.segment)?.[1]}
      </Pick>
      {wrong !== null && <p class="small problem">{`⚠ ${wrong}`}</p>}
      <p class="small soft">{`On ${plural(framesIn(finding), "frame")}. Shift and click on the frame marks the place.`}</p>
      <label>
        <input type="checkbox" checked={finding.urgent} disabled={disabled} onChange={(event) => set({ urgent: event.currentTarget.checked })} /> urgent
      </label>
      <label class="block">
        Note
        <textarea
          rows={2}
          maxLength={4000}
          disabled={disabled}
          value={typed.value ?? finding.note}
          onInput={(event) => type(event.currentTarget.value)}
          onBlur={(event) => saveNote(event.currentTarget.value)}
        />
      </label>
      <div class="row">
        {other !== undefined && (
          <button type="button" title="The same polyp, on the frame that the other head shows" disabled={disabled} onClick={() => alsoOn(other)}>
            {`Also on head ${other}`}
          </button>
        )}
        <button type="button" disabled={disabled} onClick={() => set({ best: here() })}>
          Best frame: this one<Key name="B" />
        </button>
        <button type="button" title="Ctrl+Z brings it back" disabled={disabled} onClick={() => decisions.remove(finding.subject)}>
          Remove
        </button>
        <button type="button" onClick={() => (session.finding.value = null)}>
          Close<Key name="Esc" />
        </button>
      </div>
    </fieldset>
  );
}

const Label = ({ name, of }: { name: string; of: string }) => (
  <span class="label">
    {name}
    <Key name={of} />
  </span>
);

/** A choice from a menu, which opens by its key or by the button: letters never reach a list. */
function Pick({ name, of, disabled, open, children }: { name: string; of: string; disabled: boolean; open(): void; children: ComponentChildren }) {
  return (
    <div class="pick">
      <Label name={name} of={of} />
      <button type="button" aria-haspopup="menu" aria-label={`${name}: ${children ?? "not given"}`} disabled={disabled} onClick={open}>
        {children ?? <span class="soft">not given</span>}
      </button>
    </div>
  );
}
