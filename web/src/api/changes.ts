// What other windows and other readers do: the server tells, the page looks again.
//
// A browser has six lines to a host, and each stream takes one: only windows that are seen listen.

export interface Change {
  number: number;
  exam: string;
}

/** The part of EventSource that is used. */
export interface Stream {
  onopen: ((event: Event) => void) | null;
  onmessage: ((message: MessageEvent<string>) => void) | null;
  onerror: ((event: Event) => void) | null;
  close(): void;
}

/** The part of the document that is used. */
export interface Watching {
  readonly hidden: boolean;
  addEventListener(type: "visibilitychange", changed: () => void): void;
  removeEventListener(type: "visibilitychange", changed: () => void): void;
}

interface Options {
  heard(change: Change): void;
  /** False whenever something may go unheard, also because the window is hidden. */
  connected(yes: boolean): void;
  page?: Watching;
  open?: (address: string) => Stream;
}

const PAUSE = 2000;

/** Follow the changes, after the last one that was heard of. Returns what ends it. */
export function follow({
  heard,
  connected,
  page = document,
  open = (address) => new EventSource(address),
}: Options): () => void {
  let last = -1;
  let stream: Stream | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const close = (): void => {
    clearTimeout(timer);
    stream?.close();
    stream = null;
  };
  const listen = (): void => {
    close();
    const mine = (stream = open(last < 0 ? "api/changes" : `api/changes?after=${last}`));
    mine.onopen = () => connected(true);
    mine.onmessage = (message) => {
      const change = JSON.parse(message.data) as Change;
      last = Math.max(last, change.number);
      heard(change);
    };
    mine.onerror = () => {
      if (mine !== stream) return;
      connected(false);
      close();
      // Our own clock, because a browser gives up for good on some answers.
      timer = setTimeout(listen, PAUSE);
    };
  };
  const look = (): void => {
    if (!page.hidden) return listen();
    close();
    connected(false);
  };
  page.addEventListener("visibilitychange", look);
  look();
  return () => {
    page.removeEventListener("visibilitychange", look);
    close();
  };
}
