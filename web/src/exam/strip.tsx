// The events that are offered, in the order and with the filters that the reader chose.

import { signal, useComputed, useSignalEffect, type Signal } from "@preact/signals";
import { render } from "preact";
import { useRef } from "preact/hooks";
import { api } from "../api/client.ts";
import type { SieveEvent } from "../api/types.ts";
import { decisionOn, undecided } from "../model/events.ts";
import { clock, count, DECISIONS, plural, value } from "../model/words.ts";
import { keep, settings } from "../settings.ts";
import type { Screen } from "./screen.ts";
import { BLOCK, eventSaidBy, ownEvents, toValidate, type Filter, type Session } from "./session.ts";

interface Props {
  session: Session;
  screen: Screen;
}

type Pictures = Signal<ReadonlyMap<number, string>>;

export function eventStrip(props: Props): { element: HTMLElement; close(): void } {
  const element = document.createElement("aside");
  element.className = "strip";
  element.setAttribute("aria-label", "Events");
  const pictures: Pictures = signal(new Map());
  const loaded = loadPictures(props.session, pictures);
  render(<Strip {...props} pictures={pictures} />, element);
  return {
    element,
    close() {
      loaded();
      render(null, element);
      for (const url of pictures.value.values()) URL.revokeObjectURL(url);
    },
  };
}

const PACK = 50;

/** Load the pictures of offered events, several in one request. Returns what ends it. */
function loadPictures({ exam, events, offered }: Session, pictures: Pictures): () => void {
  let first = 0; // the first event whose picture was not requested
  let closed = false;
  const load = async (head: number, places: number[]): Promise<void> => {
    const frames = places.map((place) => events[place]?.best_frame as number);
    const found = await api.thumbnails(exam.exam, head, frames).catch(() => []);
    if (closed) return;
    const next = new Map(pictures.value);
    for (const { number, type, bytes } of found) {
      const place = places.find((one) => events[one]?.best_frame === number);
      if (type !== "" && place !== undefined) next.set(place, URL.createObjectURL(new Blob([bytes], { type })));
    }
    pictures.value = next;
  };
  const stop = offered.subscribe((end) => {
    for (; first < end; first += PACK) {
      const places = events.slice(first, Math.min(first + PACK, end)).map((_, i) => first + i);
      for (const { head } of exam.heads) {
        const own = places.filter((place) => events[place]?.head === head);
        if (own.length > 0) void load(head, own);
      }
    }
    first = Math.min(first, end);
  });
  return () => {
    closed = true;
    stop();
  };
}

function Strip({ session, screen, pictures }: Props & { pictures: Pictures }) {
  const list = useRef<HTMLDivElement>(null);
  useSignalEffect(() => {
    const card = list.current?.querySelector<HTMLElement>(`[data-place="${screen.event.value}"]`);
    const inside = list.current?.contains(document.activeElement);
    card?.scrollIntoView({ block: "nearest" });
    if (inside) card?.focus({ preventScroll: true });
  });
  const { events, offered } = session;
  const consensus = session.room.role === "consensus" && session.others.value.length > 0;
  const left = events.length - offered.value;
  return (
    <>
      <header>
        <h2>Events</h2>
        <p class="small soft" title={consensus ? "Events on which the readers differ" : ""}>
          <Summary session={session} screen={screen} consensus={consensus} />
        </p>
      </header>
      {events.length === 0 ? <p class="soft empty">The detector flagged nothing in this exam.</p> : <Order session={session} />}
      {events.length > 0 && (
        <div class="cards" role="listbox" aria-label={session.order.value === "score" ? "Events, best first" : "Events in time order"} ref={list}>
          {session.list.value.map((place) => (
            <Card key={place} session={session} screen={screen} pictures={pictures} event={events[place] as SieveEvent} place={place} />
          ))}
          {session.list.value.length === 0 && <p class="small soft empty">No event passes the filter.</p>}
        </div>
      )}
      {left > 0 && (
        <button type="button" class="more" onClick={session.offerMore} title={`${count(offered.value)} of ${count(events.length)} events are offered`}>
          {`Show ${Math.min(left, BLOCK)} more`}
        </button>
      )}
      <label class="small soft goon" title="After reject or unsure the page shows the next open event">
        <input type="checkbox" defaultChecked={settings().goOn} onChange={(event) => keep({ goOn: event.currentTarget.checked })} /> Next event after reject or
        unsure
      </label>
    </>
  );
}

function Summary({ session, screen, consensus }: Props & { consensus: boolean }) {
  const own = ownEvents(session);
  const left = undecided(own, session.reading.value).length;
  const open = own.length === 0 ? (consensus ? "no differences" : "") : left === 0 ? "all decided" : `${count(left)} of ${count(own.length)} open`;
  // A validator's display of a frame validates it: the number falls without an entry.
  if (session.room.role === "validator") void screen.player.drawn.value;
  const waiting = toValidate(session).length;
  return <>{waiting > 0 ? `${count(waiting)} to validate, ${open}` : open}</>;
}

function Order({ session }: { session: Session }) {
  const toggle = (label: string, title: string, pressed: boolean, press: () => void) => (
    <button type="button" aria-pressed={pressed} title={title} onClick={press}>
      {label}
    </button>
  );
  const { filter, order } = session;
  const only = (label: string, title: string, of: Filter) =>
    toggle(label, title, filter.value === of, () => (filter.value = filter.value === of ? "all" : of));
  return (
    <div class="order">
      <span class="group" role="group" aria-label="Order">
        {toggle("Score", "Best score first", order.value === "score", () => session.setOrder("score"))}
        {toggle("Time", "In the order of the exam", order.value === "time", () => session.setOrder("time"))}
      </span>
      <span class="group" role="group" aria-label="Only">
        {only("Open", "Only events without a decision", "open")}
        {only("Unsure", "Only events that are unsure", "unsure")}
        {session.exam.heads.length > 1 && session.exam.heads.map(({ head }) => only(`H${head}`, `Only events of head ${head}`, head))}
      </span>
    </div>
  );
}

function Card({ session, screen, pictures, event, place }: Props & { pictures: Pictures; event: SieveEvent; place: number }) {
  const shown = useComputed(() => screen.event.value === place);
  const reachable = useComputed(() => Math.max(screen.event.value, session.list.value[0] ?? 0) === place);
  const decision = decisionOn(session.reading.value, event);
  const agreed = session.room.role === "consensus" && session.others.value.length > 0 && !ownEvents(session).includes(event);
  const time = session.positions.get(event.head)?.[event.best_frame];
  const when = session.hasTimes && time !== undefined ? clock(time) : `frame ${count(event.best_frame)}`;
  const two = session.exam.heads.length > 1;
  const words = decision === null ? "no decision" : DECISIONS[decision].words;
  const by = eventSaidBy(session, event);
  const others = session.others.value.map((other) => ({ reader: other.reader, decision: decisionOn(other.reading, event) }));
  const told = others.map((one) => `, ${one.reader} ${one.decision ? DECISIONS[one.decision].words : "undecided"}`).join("");
  const last = others.length > 0 ? others.map((one) => (one.decision ? DECISIONS[one.decision].sign : "–")).join(" / ") : by || plural(event.frames, "frame");
  return (
    <div
      class={`card${decision !== null || agreed ? " decided" : ""}`}
      role="option"
      data-place={place}
      tabIndex={reachable.value ? 0 : -1}
      aria-selected={shown.value}
      title={`Event ${place + 1} of ${count(session.events.length)} by score. Frames ${event.first_frame} to ${event.last_frame}, ${plural(event.frames, "flagged frame")}${told}`}
      onClick={() => screen.choose(place)}
    >
      <img alt="" draggable={false} width={64} height={64} src={pictures.value.get(place)} />
      <div class="text">
        <div>
          <b>{`Event ${place + 1}`}</b>
        </div>
        <div class="small soft">{`score ${value(event.score)}`}</div>
        <div class="small soft">{`${when}${two ? ` · head ${event.head}` : ""}`}</div>
        <div class="small soft howmany">{last}</div>
        <span class="unseen">{`${words}${by ? ` by ${by}` : ""}${told}`}</span>
      </div>
      <span class={`badge ${decision ?? (agreed ? "agreed" : "open")}`} aria-hidden="true">
        {decision === null ? "" : DECISIONS[decision].sign}
      </span>
    </div>
  );
}
