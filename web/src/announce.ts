// What a screen reader hears: one short sentence at a time.

let timer: ReturnType<typeof setTimeout> | undefined;

/** Say it, once things have come to rest: playback would drown everything else. */
export function announce(sentence: string, after = 150): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const live = document.getElementById("live");
    if (live !== null) live.textContent = sentence;
  }, after);
}
