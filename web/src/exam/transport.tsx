// The bar under the frame: play, speed, mode, picture; and which heads are shown.

import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { withKeys } from "../keymap.ts";
import type { Mode } from "../model/sequence.ts";
import { mount, type Mounted } from "./mount.tsx";
import { NEUTRAL, type Adjustment } from "./picture.ts";
import type { Screen } from "./screen.ts";
import type { Session } from "./session.ts";

interface Props {
  session: Session;
  screen: Screen;
  adjustment: Signal<Adjustment>;
}

const MODES: readonly (readonly [Mode, string, string])[] = [
  ["all", "All", withKeys("Every frame of the exam", "mode")],
  ["flagged", "Flagged", withKeys("Flagged frames", "mode")],
  ["to read", "To read", withKeys("Flagged frames without near-duplicates", "mode")],
];

export const transport = (props: Props): Mounted => mount("section", "transport", <Transport {...props} />, "Playback");

export const headChoice = (props: Pick<Props, "session" | "screen">): Mounted => mount("div", "headplace", <Heads {...props} />);

function Transport({ screen, adjustment }: Props) {
  const { player } = screen;
  const direction = player.playing.value;
  const icon = (sign: string, label: string, command: string, run: () => void) => (
    <button type="button" class="icon" aria-label={label} title={withKeys(label, command)} onClick={run}>
      {sign}
    </button>
  );
  return (
    <>
      <span class="group" role="group" aria-label="Play">
        {icon(direction === -1 ? "❚❚" : "◀", direction === -1 ? "Stop" : "Play backwards", "backwards", () => player.play(direction === -1 ? 0 : -1))}
        {icon("‹", "One frame back", "previous", () => player.by(-1))}
        {icon("›", "One frame on", "next", () => player.by(1))}
        {icon(direction === 1 ? "❚❚" : "▶", direction === 1 ? "Stop" : "Play", "toggle", () => player.play(direction === 1 ? 0 : 1))}
      </span>
      <label class="speed">
        <input
          type="range"
          min={1}
          max={30}
          step={1}
          aria-label="Frames per second"
          title={withKeys("Frames per second", "faster", "slower")}
          value={screen.fps.value}
          onInput={(event) => screen.setFps(event.currentTarget.valueAsNumber)}
        />
        <Rate screen={screen} />
      </label>
      <span class="group" role="group" aria-label="Which frames">
        {MODES.map(([mode, words, title]) => (
          <button type="button" title={title} aria-pressed={screen.mode.value === mode} onClick={() => screen.setMode(mode)}>
            {words}
          </button>
        ))}
      </span>
      <span class="gap" />
      <PictureControls adjustment={adjustment} />
    </>
  );
}

/** The rate that was set, or the slower one that is reached. */
function Rate({ screen }: { screen: Screen }) {
  const real = useSignal(0);
  useEffect(() => {
    const timer = setInterval(() => (real.value = screen.player.playing.value === 0 ? 0 : screen.player.measured()), 500);
    return () => clearInterval(timer);
  }, []);
  const wanted = screen.fps.value;
  const slow = real.value > 0 && real.value < 0.85 * wanted;
  return (
    <span class={slow ? "rate trouble" : "rate"} title={slow ? "Frames come late: playback slows down, and skips none." : ""}>
      {slow ? `${Math.round(real.value)} of ${wanted} fps` : `${wanted} fps`}
    </span>
  );
}

function PictureControls({ adjustment }: { adjustment: Signal<Adjustment> }) {
  const now = adjustment.value;
  const slider = (sign: string, label: string, keys: string, value: number, change: (value: number) => Partial<Adjustment>) => (
    <label title={label}>
      {sign}
      <input
        type="range"
        min={0.4}
        max={2.5}
        step={0.05}
        aria-label={label}
        title={`${label} (${keys})`}
        value={value}
        onInput={(event) => (adjustment.value = { ...adjustment.value, ...change(event.currentTarget.valueAsNumber) })}
      />
    </label>
  );
  return (
    <span class="group picturecontrols" role="group" aria-label="Picture">
      {slider("☀", "Brightness", "[ and ]", now.brightness, (brightness) => ({ brightness }))}
      {slider("◑", "Contrast", "{ and }", now.contrast, (contrast) => ({ contrast }))}
      <button type="button" aria-pressed={now.saturated} title={withKeys("Stronger colours", "enhance")} onClick={() => (adjustment.value = { ...now, saturated: !now.saturated })}>
        Colours
      </button>
      {(now.brightness !== 1 || now.contrast !== 1 || now.saturated) && (
        <button type="button" class="quiet" title="The unchanged picture (0)" onClick={() => (adjustment.value = NEUTRAL)}>
          Reset
        </button>
      )}
    </span>
  );
}

function Heads({ session, screen }: Pick<Props, "session" | "screen">) {
  const { heads } = session.exam;
  if (heads.length < 2) return null;
  const both = screen.both.value;
  const alone = (head: number): void => {
    screen.setHead(head);
    screen.setBoth(false);
  };
  return (
    <span class="group heads" role="group" aria-label="Heads">
      {heads.map(({ head }) => (
        <button type="button" aria-pressed={!both && screen.head.value === head} title={withKeys(`Head ${head} alone`, "both")} onClick={() => alone(head)}>
          {`Head ${head}`}
        </button>
      ))}
      <button type="button" aria-pressed={both} title={withKeys("Side by side, kept in step by time", "both")} onClick={() => screen.setBoth(true)}>
        Both
      </button>
    </span>
  );
}
