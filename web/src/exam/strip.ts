// The events as a filmstrip, best first, with what was decided about each.

import { api } from "../api/client.ts";
import type { SieveEvent } from "../api/types.ts";
import { cleaner, h } from "../dom.ts";
import { undecided, verdictOn } from "../model/rank.ts";
import { clock, count, plural, value, VERDICTS } from "../model/words.ts";
import { keep, settings } from "../settings.ts";
import type { Screen } from "./screen.ts";
import { ownEvents, toValidate, type Session } from "./session.ts";

export interface Strip {
  element: HTMLElement;
  close(): void;
}

const BATCH = 32;

export function makeStrip(session: Session, screen: Screen): Strip {
  const clean = cleaner();
  const urls: string[] = [];
  const summary = h("p", { class: "small soft" });
  const goOn = h("input", { type: "checkbox", checked: settings().goOn });
  goOn.addEventListener("change", () => keep({ goOn: goOn.checked }));
  const cards = session.events.map((event, place) => card(session, screen, event, place));
  const list = h("div", { class: "cards", role: "listbox", "aria-label": "Events, best first" }, ...cards);
  const element = h(
    "aside",
    { class: "strip", "aria-label": "Events" },
    h("header", {}, h("h2", {}, "Events"), summary),
    cards.length > 0 ? list : h("p", { class: "soft empty" }, "The detector flagged nothing in this exam."),
    h("label", { class: "small soft goon", title: "After reject or unsure the next open event is shown" }, goOn, " go on after a verdict"),
  );

  // Pictures come when their card is near the screen, several in one request.
  const waiting = new Set<number>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const observer = new IntersectionObserver(
    (changes) => {
      for (const change of changes) {
        if (!change.isIntersecting) continue;
        observer.unobserve(change.target);
        waiting.add(cards.indexOf(change.target as HTMLElement));
      }
      clearTimeout(timer);
      timer = setTimeout(() => void load(), 30);
    },
    { root: list, rootMargin: "600px" },
  );
  for (const one of cards) observer.observe(one);
  clean.add(() => observer.disconnect());
  clean.add(() => {
    clearTimeout(timer);
    for (const url of urls) URL.revokeObjectURL(url);
  });

  const load = async (): Promise<void> => {
    const places = [...waiting];
    waiting.clear();
    for (const { head } of session.exam.heads) {
      const mine = places.filter((place) => session.events[place]?.head === head);
      for (let i = 0; i < mine.length; i += BATCH) {
        const some = mine.slice(i, i + BATCH);
        const frames = some.map((place) => session.events[place]?.best_frame as number);
        const pictures = await api.thumbnails(session.exam.exam, head, frames).catch(() => []);
        for (const picture of pictures) {
          if (picture.type === "") continue;
          const url = URL.createObjectURL(new Blob([picture.bytes], { type: picture.type }));
          urls.push(url);
          for (const place of some) {
            if (session.events[place]?.best_frame !== picture.number) continue;
            (cards[place]?.querySelector("img") as HTMLImageElement).src = url;
          }
        }
      }
    }
  };

  const tell = (): void => {
    const reading = session.reading.value;
    const own = ownEvents(session);
    const consensus = session.room.role === "consensus" && session.others.value.length > 0;
    session.events.forEach((event, place) => {
      const verdict = verdictOn(reading, event);
      const badge = cards[place]?.querySelector(".badge") as HTMLElement;
      const agreed = consensus && !own.includes(event);
      badge.className = `badge ${verdict ?? (agreed ? "agreed" : "open")}`;
      badge.textContent = verdict === null ? "" : VERDICTS[verdict].sign;
      const words = verdict === null ? "no verdict" : VERDICTS[verdict].words;
      const others = session.others.value.map((other) => ({ reader: other.reader, said: verdictOn(other.reading, event) }));
      const told = others.map(({ reader, said }) => `, ${reader} ${said ? VERDICTS[said].words : "undecided"}`).join("");
      const head = session.exam.heads.length > 1 ? `, head ${event.head}` : "";
      cards[place]?.setAttribute("aria-label", `Event ${place + 1}${head}, score ${value(event.score)}, ${words}${told}`);
      cards[place]?.classList.toggle("decided", verdict !== null || agreed);
      const line = cards[place]?.querySelector(".howmany") as HTMLElement;
      line.textContent = others.length
        ? others.map(({ said }) => (said ? VERDICTS[said].sign : "–")).join(" / ")
        : plural(event.frames, "frame");
      line.title = told.slice(2);
    });
    const left = undecided(own, reading).length;
    const all = own.length;
    const open = all === 0 ? (consensus ? "no differences" : "") : left === 0 ? "all decided" : `${count(left)} of ${count(all)} open`;
    const waiting = toValidate(session).length;
    summary.textContent = waiting > 0 ? `${count(waiting)} to validate, ${open}` : open;
    summary.title = consensus ? "Events on which the readers differ" : "";
  };
  clean.add(session.reading.subscribe(tell));
  clean.add(session.others.subscribe(tell));
  // What the validator displays is validated: the number goes down without an entry.
  if (session.room.role === "validator") clean.add(screen.player.shown.subscribe(tell));
  clean.add(
    screen.event.subscribe((shown) => {
      const inside = list.contains(document.activeElement);
      cards.forEach((one, place) => {
        one.setAttribute("aria-selected", String(place === shown));
        one.tabIndex = place === Math.max(shown, 0) ? 0 : -1;
      });
      cards[shown]?.scrollIntoView({ block: "nearest" });
      if (inside) cards[shown]?.focus({ preventScroll: true });
    }),
  );
  return { element, close: () => clean.clean() };
}

function card(session: Session, screen: Screen, event: SieveEvent, place: number): HTMLElement {
  const time = session.positions.get(event.head)?.[event.best_frame];
  const when = session.hasTimes && time !== undefined ? clock(time) : `frame ${count(event.best_frame)}`;
  const head = session.exam.heads.length > 1 ? ` · head ${event.head}` : "";
  const title = `Frames ${event.first_frame} to ${event.last_frame}, ${plural(event.frames, "flagged frame")}`;
  return h(
    "div",
    { class: "card", role: "option", title, tabindex: -1, onclick: () => screen.choose(place) },
    h("img", { alt: "", draggable: "false", width: 64, height: 64 }),
    h(
      "div",
      { class: "text", "aria-hidden": "true" },
      h("div", {}, h("b", {}, `${place + 1}`), h("span", { class: "soft" }, `  ${value(event.score)}`)),
      h("div", { class: "small soft" }, `${when}${head}`),
      h("div", { class: "small soft howmany" }),
    ),
    h("span", { class: "badge open", "aria-hidden": "true" }),
  );
}
