// What a reader likes, kept in this browser: never a decision.

export interface Settings {
  fps: number;
  goOn: boolean;
  overlay: boolean;
}

const KEY = "capsieve.settings";
const USUAL: Settings = { fps: 10, goOn: true, overlay: false };

export function settings(): Settings {
  try {
    return { ...USUAL, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Settings>) };
  } catch {
    return { ...USUAL };
  }
}

export function keep(change: Partial<Settings>): Settings {
  const next = { ...settings(), ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // A full or forbidden store loses a preference, and no more than that.
  }
  return next;
}
