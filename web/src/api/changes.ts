// What other windows and other readers do: the server tells, the page looks again.

export interface Change {
  number: number;
  exam: string;
}

/** Follow the changes. The browser connects again by itself, after the last one it heard of. */
export function follow(
  heard: (change: Change) => void,
  connected: (yes: boolean) => void,
): () => void {
  let last = -1;
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;

  const open = (): void => {
    source = new EventSource(last < 0 ? "api/changes" : `api/changes?after=${last}`);
    source.onopen = () => connected(true);
    source.onmessage = (message: MessageEvent<string>) => {
      const change = JSON.parse(message.data) as Change;
      last = Math.max(last, change.number);
      heard(change);
    };
    source.onerror = () => {
      connected(false);
      source?.close();
      // Our own clock, because a browser gives up for good on some answers.
      clearTimeout(timer);
      if (!stopped) timer = setTimeout(open, 2000);
    };
  };
  open();
  return () => {
    stopped = true;
    clearTimeout(timer);
    source?.close();
  };
}
