// Notes that were begun and not added: kept while the window is open, so that a look at the list
// does not lose them.

const drafts = new Map<string, string>();

export const draftOf = (exam: string): string => drafts.get(exam) ?? "";

export function keepDraft(exam: string, text: string): void {
  if (text.trim() === "") drafts.delete(exam);
  else drafts.set(exam, text);
}

/** The exams on which a note was begun. */
export const begun = (): string[] => [...drafts.keys()];
