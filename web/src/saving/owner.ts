// Whose an action is: the room in which it was made, the reader, and in which role. Nothing is sent
// into another room, or in the name of somebody else.

export interface Owner {
  /** The room's id: two studies may be served at the same address, one after the other. */
  room: string;
  reader: string;
  role: string;
}

export const isOf = (one: Owner, other: Owner): boolean =>
  one.room === other.room && one.reader === other.reader && one.role === other.role;

/** Why what one decided must not be sent now; null if it may. */
export function strangerWords(decided: Owner, now: Owner): string | null {
  if (isOf(decided, now)) return null;
  if (decided.room !== now.room) return "another room is open at this address now";
  const [who, before] =
    decided.reader === now.reader
      ? [`${now.reader}, ${now.role},`, `${decided.reader}, ${decided.role},`]
      : [now.reader, decided.reader];
  return `${who} is logged in here now, and ${before} decided`;
}
