// A polyp on a frame of an event: most often it is that of the event.

import { openDialog } from "../dialog.ts";

/** Ask whether a polyp is that of an event. */
export function askWhichPolyp(event: number, accept: () => void, mark: () => void): void {
  openDialog(`This frame is in event ${event}`, (close) => {
    const then = (run: () => void) => (): void => {
      close();
      run();
    };
    return (
      <>
        <p>Accept the event, or mark another polyp on this frame alone.</p>
        <div class="row">
          <button type="button" class="primary" autofocus onClick={then(accept)}>{`Accept event ${event}`}</button>
          <button type="button" onClick={then(mark)}>
            Another polyp
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </>
    );
  });
}
