// Findings: the list, and the form of the chosen one. Every choice is saved at once.

import type { Entry, FindingContent } from "../../api/types.ts";
import { framesIn, withFrame } from "../../model/subjects.ts";
import { toast } from "../../dialog.ts";
import { button, fill, h } from "../../dom.ts";
import { clock, count, LOCATIONS, PARIS, SIZES } from "../../model/words.ts";
import type { Deciding } from "../deciding.ts";
import type { Screen } from "../screen.ts";
import type { Session } from "../session.ts";

export function findingsPanel(
  session: Session,
  screen: Screen,
  deciding: Deciding,
): { element: HTMLElement; close(): void } {
  const element = h("div", { class: "findings" });
  let drawn = "";

  const show = (): void => {
    const { findings, state } = session.reading.value;
    const chosen = session.finding.value;
    // Redrawing takes the focus out of the form: only when something changed.
    const now = JSON.stringify([findings, state, chosen]);
    if (now === drawn) return;
    drawn = now;
    const writing = element.querySelector<HTMLTextAreaElement>("textarea[data-field=note]");
    const draft = writing && writing.value !== writing.defaultValue ? { of: writing.dataset["finding"], text: writing.value } : null;
    fill(
      element,
      ...findings.map((finding, i) =>
        finding.content.subject === chosen ? form(finding.content, i) : row(finding, i),
      ),
      findings.length === 0
        ? h("p", { class: "soft" }, "No findings yet. A accepts an event; M marks a polyp that the detector missed.")
        : null,
      button("Mark a polyp on this frame", deciding.missed, { key: "M", disabled: state === "signed" }),
    );
    // A note that is being written outlives what others do meanwhile.
    const note = element.querySelector<HTMLTextAreaElement>("textarea[data-field=note]");
    if (draft && note && note.dataset["finding"] === draft.of) note.value = draft.text;
  };

  const where = ({ best }: FindingContent): string => {
    const time = session.positions.get(best.head)?.[best.frame];
    const at = session.hasTimes && time !== undefined ? clock(time) : `frame ${count(best.frame)}`;
    return session.exam.heads.length > 1 ? `${at}, head ${best.head}` : at;
  };

  const choose = ({ best, subject }: FindingContent): void => {
    screen.jump(best.head, best.frame);
    session.finding.value = subject; // after the jump: a change of the head closes the open finding
  };

  const row = ({ content: finding, reader, role }: Entry<FindingContent>, i: number): HTMLElement =>
    h(
      "button",
      { type: "button", class: "finding", onclick: () => choose(finding) },
      h("span", { class: "diamond", "aria-hidden": "true" }, "◆"),
      h(
        "span",
        { class: "text" },
        h("b", {}, `${i + 1}  ${words(finding)}`),
        h("span", { class: "small soft" }, `${where(finding)} · ${reader}${role === "pre-reader" ? ", pre-reader" : ""}`),
      ),
      finding.urgent ? h("span", { class: "urgent" }, "▲ urgent") : null,
    );

  const sizeFrame = ({ head, frame }: { head: number; frame: number }): HTMLElement =>
    button(`frame ${count(frame)}`, () => screen.jump(head, frame), { class: "link" });

  /** With two heads: the same polyp on the frame that the other head shows. */
  const alsoOn = (finding: FindingContent, signed: boolean): HTMLElement | null => {
    const other = session.exam.heads.find(({ head }) => head !== finding.best.head)?.head;
    if (other === undefined) return null;
    const add = (): void => {
      const spot = screen.player.shown.value?.spots.find(({ head }) => head === other);
      if (spot === undefined) return toast("Show both heads first (Shift+H).");
      deciding.change(finding.subject, { spans: withFrame(finding.spans, other, spot.frame) });
    };
    return button(`Also on head ${other}`, add, { title: "The same polyp, on the frame that the other head shows", disabled: signed });
  };

  const form = (finding: FindingContent, i: number): HTMLElement => {
    const signed = session.reading.value.state === "signed";
    const set = (change: Partial<FindingContent>): void => deciding.change(finding.subject, change);
    const note = h("textarea", { rows: 2, "data-field": "note", "data-finding": finding.subject, maxlength: 4000, disabled: signed }, finding.note);
    note.addEventListener("change", () => set({ note: note.value }));
    const urgent = h("input", { type: "checkbox", "data-field": "urgent", checked: finding.urgent, disabled: signed });
    urgent.addEventListener("change", () => set({ urgent: urgent.checked }));
    return h(
      "fieldset",
      { class: "form" },
      h("legend", {}, h("span", { class: "diamond", "aria-hidden": "true" }, "◆"), ` Finding ${i + 1}, ${where(finding)}`),
      finding.missed ? h("p", { class: "small" }, "Missed by the detector.") : null,
      choices("Size", "S", SIZES, finding.size, signed, (size) =>
        set({ size, size_on: size === null ? null : screen.here() }),
      ),
      finding.size_on === null
        ? null
        : h(
            "p",
            { class: "small soft" },
            "judged on ",
            sizeFrame(finding.size_on),
          ),
      pick("Paris", "T", PARIS.map(([name, text]) => [name, `${name}, ${text}`] as const), finding.paris, signed, (paris) => set({ paris })),
      pick("Segment", "O", LOCATIONS, finding.segment, signed, (segment) => set({ segment })),
      h(
        "p",
        { class: "small soft" },
        `On ${count(framesIn(finding))} ${framesIn(finding) === 1 ? "frame" : "frames"}. Shift and click on the frame says where it lies.`,
      ),
      h("label", {}, urgent, " urgent"),
      h("label", { class: "block" }, "Note", note),
      h(
        "div",
        { class: "row" },
        alsoOn(finding, signed),
        button("Best frame: this one", () => set({ best: screen.here() }), { key: "B", disabled: signed }),
        button("Remove", () => deciding.remove(finding.subject), { title: "Ctrl+Z brings it back", disabled: signed }),
        button("Close", () => (session.finding.value = null), { key: "Esc" }),
      ),
    );
  };

  const stops = [session.reading.subscribe(show), session.finding.subscribe(show)];
  return { element, close: () => stops.forEach((stop) => stop()) };
}

function choices<T extends string>(
  label: string,
  key: string,
  options: readonly (readonly [T, string])[],
  now: T | null,
  disabled: boolean,
  set: (value: T | null) => void,
): HTMLElement {
  return h(
    "div",
    { class: "choices", role: "group", "aria-label": label },
    h("span", { class: "label" }, label, h("kbd", { "aria-hidden": "true" }, key)),
    ...options.map(([value, words]) => {
      const one = button(words, () => set(value === now ? null : value), { pressed: value === now, title: value, disabled });
      one.dataset["field"] = `${label}-${value}`;
      return one;
    }),
  );
}

function pick<T extends string>(
  label: string,
  key: string,
  options: readonly (readonly [T, string])[],
  now: T | null,
  disabled: boolean,
  set: (value: T | null) => void,
): HTMLElement {
  const select = h(
    "select",
    { "data-field": label, disabled },
    h("option", { value: "" }, "not said"),
    ...options.map(([value, words]) => h("option", { value, selected: value === now }, words)),
  );
  select.addEventListener("change", () => set((select.value || null) as T | null));
  return h("label", { class: "pick" }, h("span", { class: "label" }, label, h("kbd", { "aria-hidden": "true" }, key)), select);
}

function words(finding: FindingContent): string {
  const size = SIZES.find(([name]) => name === finding.size)?.[1];
  const place = LOCATIONS.find(([name]) => name === finding.segment)?.[1];
  return [finding.paris ?? "polyp", size, place].filter(Boolean).join(", ");
}
