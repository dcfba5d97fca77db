// The row under the frame: where we are, and the decision on the event that is shown.

import { useComputed } from "@preact/signals";
import type { SieveEvent, Decision } from "../api/types.ts";
import { withKeys } from "../keymap.ts";
import { decisionOn } from "../model/events.ts";
import { clock, count, DECISIONS } from "../model/words.ts";
import type { Decisions } from "./decisions.ts";
import { mount, type Mounted } from "./mount.tsx";
import type { Screen } from "./screen.ts";
import { eventSaidBy, isOpen, type Session } from "./session.ts";

interface Props {
  session: Session;
  screen: Screen;
  decisions: Decisions;
  /** Go back to where the reader was before the page moved. */
  back(): void;
}

const CHOICES: readonly (readonly [Decision, string, string, string])[] = [
  ["accept", "Accept", "A", withKeys("The event shows a polyp", "accept")],
  ["reject", "Reject", "R", withKeys("The event shows no polyp", "reject")],
  ["unsure", "Unsure", "U", withKeys("It is not clear", "unsure")],
];

export const decisionBar = (props: Props): Mounted => mount("div", "decisionbar", <DecisionBar {...props} />);

function DecisionBar({ session, screen, decisions, back }: Props) {
  const place = screen.event.value;
  const event = session.events[place];
  const visible = useComputed(() => screen.here().visible).value;
  const reading = session.reading.value;
  const signed = reading.state === "signed";
  const two = session.exam.heads.length > 1;
  const others = saidBy(session, event);
  return (
    <div class={screen.moved.value ? "decisions moved" : "decisions"}>
      <Where session={session} screen={screen} />
      <span class="which">
        {screen.before.value !== null && (
          <button type="button" class="link" aria-label="Back to where I was" title={withKeys("Back to where I was", "back")} onClick={back}>
            ↩ Back
          </button>
        )}
        <span class="soft">
          <EventWords session={session} screen={screen} visible={visible} />
        </span>
        {others !== "" && <span class="others">{others}</span>}
      </span>
      <div class="choice" role="group" aria-label="Decision on the event">
        {screen.moved.value && <span class="wait">The page moved: look first</span>}
        {CHOICES.map(([decision, label, key, title]) => (
          <button
            type="button"
            class={decision}
            title={title}
            aria-pressed={event !== undefined && decisionOn(reading, event) === decision}
            disabled={signed || !visible || event === undefined || !isOpen(session, event)}
            onClick={() => decisions.onEvent(decision)}
          >
            {`${DECISIONS[decision].sign} ${label}`}
            <kbd aria-hidden="true">{key}</kbd>
          </button>
        ))}
        <button
          type="button"
          title={withKeys(`Mark a polyp that the detector missed, on this frame${two ? ` of head ${screen.head.value}` : ""}`, "missed")}
          disabled={signed || !visible}
          onClick={decisions.missed}
        >
          Missed polyp
          <kbd aria-hidden="true">M</kbd>
        </button>
      </div>
    </div>
  );
}

function EventWords({ session, screen, visible }: { session: Session; screen: Screen; visible: boolean }) {
  const [place, elsewhere] = [screen.event.value, screen.elsewhere.value];
  const event = session.events[place];
  const two = session.exam.heads.length > 1;
  if (!visible && screen.settled.value) return <>No picture: nothing can be decided</>;
  if (event === undefined) {
    if (elsewhere >= 0) return <>{`Event ${elsewhere + 1} is on the other head (H)`}</>;
    return <>{`No event ${two ? `on head ${screen.head.value}` : "here"}: M marks a polyp`}</>;
  }
  const by = eventSaidBy(session, event);
  return <>{`Event ${place + 1} of ${count(session.events.length)}${two ? `, head ${event.head}` : ""}${by ? `, by ${by}` : ""}`}</>;
}

/** The drawn frame: head, time and number. */
function Where({ session, screen }: { session: Session; screen: Screen }) {
  const drawn = screen.player.drawn.value;
  if (drawn === null) return <span class="where" />;
  const { head, frame } = screen.here();
  const all = session.columns.get(head)?.frames ?? 0;
  const part = screen.mode.value === "all" ? `of ${count(all)}` : `· ${count(drawn.step + 1)} of ${count(screen.player.sequence().length)}`;
  return (
    <span class="where">
      {session.exam.heads.length > 1 && <b>{`head ${head}  `}</b>}
      <b>{session.hasTimes ? clock(session.positions.get(head)?.[frame] ?? NaN) : ""}</b>
      {` frame ${count(frame)} `}
      <span class="soft">{part}</span>
    </span>
  );
}

/** In blind work, once both have signed: the decision of each on the event. */
function saidBy(session: Session, event: SieveEvent | undefined): string {
  if (event === undefined) return "";
  const words = session.others.value.map(({ reader, reading }) => {
    const decision = decisionOn(reading, event);
    return `${reader} ${decision ? `${DECISIONS[decision].sign} ${DECISIONS[decision].words}` : "– undecided"}`;
  });
  return words.join(" · ");
}
