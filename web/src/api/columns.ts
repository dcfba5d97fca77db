// The table of all frames of one head, as the server sends it: a JSON header and plain columns.

export interface Columns {
  frames: number;
  reasons: string[];
  time_s: Float64Array;
  score: Float32Array;
  /** 1: flagged; 0: not flagged, or not scored. */
  flagged: Uint8Array;
  reason: Uint8Array;
  /** -1: of no event. */
  event: Int32Array;
  /** Of which frame it is a near-duplicate; -1: of none. */
  duplicate_of: Int32Array;
  /** Mean colour, three bytes a frame; 0, 0, 0 where it is unknown. */
  rgb: Uint8Array;
  /** 0 decoded, 1 undecodable, 2 unscreened. */
  status: Uint8Array;
}

interface Header {
  frames: number;
  reasons?: string[];
  columns: { name: string; type: string; length?: number; bytes?: number }[];
}

const WIDTHS: Record<string, number> = { float64: 8, float32: 4, int32: 4, uint8: 1 };
const padded = (bytes: number): number => (bytes + 7) & ~7;

/** Read the columns without copying them: each begins at a multiple of eight bytes. */
export function parseColumns(buffer: ArrayBuffer): Columns {
  const headerLength = new DataView(buffer).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, 4, headerLength));
  const header = JSON.parse(text) as Header;
  const count = header.frames;
  const places = new Map<string, number>();
  let at = padded(4 + headerLength);
  for (const column of header.columns) {
    const width = WIDTHS[column.type];
    if (width === undefined) throw new Error(`Column ${column.name} has an unknown type.`);
    const length = column.length ?? count * (column.name === "rgb" ? 3 : 1);
    places.set(column.name, at);
    at += padded(length * width);
  }
  if (at > padded(buffer.byteLength)) throw new Error("The timeline was cut off on its way.");
  const place = (name: string): number => {
    const found = places.get(name);
    if (found === undefined) throw new Error(`The timeline has no column ${name}.`);
    return found;
  };
  return {
    frames: count,
    reasons: header.reasons ?? [],
    time_s: new Float64Array(buffer, place("time_s"), count),
    score: new Float32Array(buffer, place("score"), count),
    flagged: new Uint8Array(buffer, place("flagged"), count),
    reason: new Uint8Array(buffer, place("reason"), count),
    event: new Int32Array(buffer, place("event"), count),
    duplicate_of: new Int32Array(buffer, place("duplicate_of"), count),
    rgb: new Uint8Array(buffer, place("rgb"), 3 * count),
    status: new Uint8Array(buffer, place("status"), count),
  };
}
