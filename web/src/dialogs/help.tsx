// All keys.

import { openDialog } from "../dialog.ts";
import { GROUPS } from "../keymap.ts";

const POINTER = [
  "Frame: the wheel zooms, a drag moves, a double click shows the whole frame, Shift and a click mark the place of a finding.",
  "Timeline: a click or a drag goes to a frame, the wheel zooms in time, Shift and the wheel move, a double click shows the whole exam.",
];

export function showHelp(): void {
  openDialog("Keys", () => <Keys />, { wide: true });
}

function Keys() {
  return (
    <>
      <div class="keys">
        {GROUPS.map(({ name, bindings }) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {bindings.flatMap(({ id, keys, words }) => [
                <dt key={id}>{keys.flatMap((key, i) => (i > 0 ? [" ", <kbd>{key}</kbd>] : [<kbd>{key}</kbd>]))}</dt>,
                <dd key={`${id} words`}>{words}</dd>,
              ])}
            </dl>
          </section>
        ))}
      </div>
      {POINTER.map((words) => (
        <p key={words} class="small soft">{words}</p>
      ))}
    </>
  );
}
