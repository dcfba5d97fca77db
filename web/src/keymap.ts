// Every key, in one place: the help is made from it, and the exam page runs it.

export interface Binding {
  id: string;
  /** As `keyName` writes them; the first ones are shown. */
  keys: readonly string[];
  words: string;
  /** The key may be held down. */
  held?: true;
}

export interface Group {
  name: string;
  bindings: readonly Binding[];
}

export const GROUPS: readonly Group[] = [
  {
    name: "Moving",
    bindings: [
      { id: "toggle", keys: ["Space", "K"], words: "play, stop" },
      { id: "backwards", keys: ["J"], words: "play backwards" },
      { id: "forwards", keys: ["L"], words: "play forwards; again: faster" },
      { id: "next", keys: ["→"], words: "next frame", held: true },
      { id: "previous", keys: ["←"], words: "frame before", held: true },
      { id: "next10", keys: ["Shift+→"], words: "ten frames on", held: true },
      { id: "previous10", keys: ["Shift+←"], words: "ten frames back", held: true },
      { id: "first", keys: ["Home"], words: "first frame" },
      { id: "last", keys: ["End"], words: "last frame" },
      { id: "faster", keys: ["+"], words: "faster", held: true },
      { id: "slower", keys: ["-"], words: "slower", held: true },
      { id: "mode", keys: ["F"], words: "all frames, flagged, flagged without near-duplicates" },
    ],
  },
  {
    name: "Events",
    bindings: [
      { id: "nextEvent", keys: ["N", "↓"], words: "next event", held: true },
      { id: "previousEvent", keys: ["P", "↑"], words: "event before", held: true },
      { id: "nextOpen", keys: ["Enter"], words: "next to validate, or next event without a decision" },
      { id: "playEvent", keys: ["Q"], words: "play the event, from its first to its last frame" },
      { id: "back", keys: ["Backspace"], words: "back to where I was before the page moved" },
    ],
  },
  {
    name: "Decisions",
    bindings: [
      { id: "accept", keys: ["A"], words: "accept the event that is shown" },
      { id: "reject", keys: ["R"], words: "reject the event that is shown" },
      { id: "unsure", keys: ["U"], words: "unsure about the event that is shown" },
      { id: "acceptFrame", keys: ["Shift+A"], words: "mark a polyp on this frame" },
      { id: "rejectFrame", keys: ["Shift+R"], words: "reject this frame" },
      { id: "unsureFrame", keys: ["Shift+U"], words: "unsure about this frame" },
      { id: "missed", keys: ["M"], words: "mark a polyp on this frame" },
      { id: "size", keys: ["S"], words: "size of the finding, then 1 to 3" },
      { id: "paris", keys: ["T"], words: "Paris type of the finding, then 1 to 7" },
      { id: "segment", keys: ["O"], words: "segment of the finding, then 0 to 9" },
      { id: "best", keys: ["B"], words: "this is the finding's best frame" },
      { id: "landmark", keys: ["G"], words: "landmark on this frame, then 1 to 6" },
      { id: "clean", keys: ["C"], words: "cleanliness: segment 1 to 3, then grade 0 to 3" },
      { id: "urgent", keys: ["!"], words: "the exam is urgent" },
      { id: "undo", keys: ["Ctrl+Z"], words: "undo" },
      { id: "redo", keys: ["Ctrl+Shift+Z", "Ctrl+Y"], words: "redo" },
      { id: "differences", keys: ["W"], words: "blind work: where the readers differ" },
      { id: "sign", keys: ["Ctrl+Enter"], words: "sign, or reopen" },
    ],
  },
  {
    name: "Picture",
    bindings: [
      { id: "enhance", keys: ["E"], words: "stronger colours" },
      { id: "natural", keys: ["0"], words: "the unchanged picture" },
      { id: "brighter", keys: ["]"], words: "brighter", held: true },
      { id: "darker", keys: ["["], words: "darker", held: true },
      { id: "harder", keys: ["}"], words: "more contrast", held: true },
      { id: "softer", keys: ["{"], words: "less contrast", held: true },
      { id: "zoomIn", keys: ["Z"], words: "zoom into the frame", held: true },
      { id: "zoomOut", keys: ["Shift+Z"], words: "the whole frame" },
      { id: "shapes", keys: ["V"], words: "marks: where the detector points, all that it found, none" },
      { id: "map", keys: ["X"], words: "the next map" },
      { id: "head", keys: ["H"], words: "choose the other head" },
      { id: "both", keys: ["Shift+H"], words: "one head or both" },
    ],
  },
  {
    name: "Page",
    bindings: [
      { id: "tabWhy", keys: ["1"], words: "why" },
      { id: "tabFindings", keys: ["2"], words: "findings" },
      { id: "tabExam", keys: ["3"], words: "exam" },
      { id: "timelineIn", keys: ["Ctrl+↑"], words: "timeline: zoom in" },
      { id: "timelineOut", keys: ["Ctrl+↓"], words: "timeline: zoom out" },
      { id: "help", keys: ["?"], words: "all keys" },
      { id: "close", keys: ["Esc"], words: "close what is open" },
    ],
  },
];

const NAMES: Record<string, string> = {
  " ": "Space",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
};

interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

/** "Ctrl+Shift+Z", "A", "?": letters in capitals, Shift only where the key itself does not say it. */
export function keyName({ key, ctrlKey, metaKey, shiftKey, altKey }: Pressed): string {
  const letter = /^\p{L}$/u.test(key);
  const name = NAMES[key] ?? (letter ? key.toUpperCase() : key);
  const shift = shiftKey && (letter || key.length > 1 || key === " ");
  return `${ctrlKey || metaKey ? "Ctrl+" : ""}${altKey ? "Alt+" : ""}${shift ? "Shift+" : ""}${name}`;
}

const BY_KEY = new Map(
  GROUPS.flatMap((group) => group.bindings.flatMap((one) => one.keys.map((key) => [key, one] as const))),
);

/** Words for a title, with the keys that do the same. */
export function withKeys(words: string, ...ids: string[]): string {
  const keys = GROUPS.flatMap((group) => group.bindings)
    .filter((one) => ids.includes(one.id))
    .flatMap((one) => one.keys);
  return keys.length > 0 ? `${words} (${keys.join(", ")})` : words;
}

export const commandOf = (event: Pressed): Binding | undefined => BY_KEY.get(keyName(event));
