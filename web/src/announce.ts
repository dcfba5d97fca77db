// What a screen reader hears: short sentences, once things have come to rest.
//
// What was done is said in full, one thing after the other. Where one is is said once, for the last
// place alone: playback would drown everything else.

let done: string[] = [];
let place = "";
let timer: ReturnType<typeof setTimeout> | undefined;

function later(after: number): void {
  clearTimeout(timer);
  timer = setTimeout(say, after);
}

function say(): void {
  const words = [...done, place].filter((sentence) => sentence !== "").join(". ");
  done = [];
  place = "";
  const live = document.getElementById("live");
  if (live === null || words === "") return;
  // The same text again is announced only if it differs.
  live.textContent = live.textContent === words ? `${words}\u00a0` : words;
}

/** Say what was done. */
export function announce(sentence: string, after = 150): void {
  if (done.at(-1) !== sentence) done.push(sentence);
  later(after);
}

/** Say where one is, when one has rested there. */
export function announcePlace(sentence: string): void {
  place = sentence;
  later(500);
}
