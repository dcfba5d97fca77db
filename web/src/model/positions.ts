// The position of each frame on the timeline: seconds if they are known, frame numbers otherwise.

/** Seconds for every frame, ascending; unknown ones lie evenly between their known neighbours. */
export function secondsOf(times: Float64Array): Float64Array {
  const seconds = Float64Array.from(times);
  const known: number[] = [];
  let highest = -Infinity;
  for (let i = 0; i < seconds.length; i++) {
    const time = seconds[i] as number;
    // A clock that jumps back would make the search below wrong: such a frame counts as unknown.
    if (Number.isFinite(time) && time >= highest) {
      highest = time;
      known.push(i);
    }
  }
  const first = known[0];
  const last = known.at(-1);
  if (first === undefined || last === undefined) return numbersOf(times.length);
  const step = typicalStep(seconds, known);
  for (let i = first - 1; i >= 0; i--) seconds[i] = (seconds[i + 1] as number) - step;
  for (let k = 1; k < known.length; k++) {
    const from = known[k - 1] as number;
    const to = known[k] as number;
    const rise = ((seconds[to] as number) - (seconds[from] as number)) / (to - from);
    for (let i = from + 1; i < to; i++) seconds[i] = (seconds[from] as number) + rise * (i - from);
  }
  for (let i = last + 1; i < seconds.length; i++) seconds[i] = (seconds[i - 1] as number) + step;
  return seconds;
}

/** 0, 1, 2, ... for exams without times. */
export function numbersOf(frames: number): Float64Array {
  return Float64Array.from({ length: frames }, (_, i) => i);
}

function typicalStep(seconds: Float64Array, known: number[]): number {
  const first = known[0] as number;
  const last = known.at(-1) as number;
  if (last === first) return 1;
  return ((seconds[last] as number) - (seconds[first] as number)) / (last - first);
}

/** The first frame at or after a position; the number of frames where there is none. */
export function firstFrom(positions: Float64Array, position: number): number {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((positions[middle] as number) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The frame nearest to a position. */
export function nearest(positions: Float64Array, position: number): number {
  const after = firstFrom(positions, position);
  if (after === 0) return 0;
  if (after === positions.length) return positions.length - 1;
  const before = after - 1;
  const nearer = position - (positions[before] as number) <= (positions[after] as number) - position;
  return nearer ? before : after;
}
