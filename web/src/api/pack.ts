// Several images in one response: for each one its number, its length, its kind, its bytes.

export interface Packed {
  number: number;
  /** Empty if the frame cannot be shown: then the bytes are the reason in UTF-8. */
  type: "" | "image/jpeg" | "image/png";
  bytes: Uint8Array<ArrayBuffer>;
}

const HEADER = 12;
const TYPES = ["", "image/jpeg", "image/png"] as const;

/** Take a pack apart. The bytes are copied, so that one picture does not keep the whole pack. */
export function parsePack(buffer: ArrayBuffer): Packed[] {
  const view = new DataView(buffer);
  const pictures: Packed[] = [];
  let at = 0;
  while (at < buffer.byteLength) {
    if (at + HEADER > buffer.byteLength) throw new Error("A pack of frames ends in a header.");
    const number = view.getUint32(at, true);
    const length = view.getUint32(at + 4, true);
    const type = TYPES[view.getUint8(at + 8)];
    if (type === undefined) throw new Error(`Frame ${number} is of a kind this page does not know.`);
    at += HEADER;
    if (at + length > buffer.byteLength) throw new Error(`Frame ${number} was cut off on its way.`);
    pictures.push({ number, type, bytes: new Uint8Array(buffer.slice(at, at + length)) });
    at += length;
  }
  return pictures;
}
