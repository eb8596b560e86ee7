// Text that a person has typed but not sent. It is stored per subject in this tab, and survives a reload.

const PREFIX = "holdshort.draft.";

export const drafts = {
  read: (key: string): string => sessionStorage.getItem(PREFIX + key) ?? "",
  keep(key: string, text: string): void {
    if (text === "") sessionStorage.removeItem(PREFIX + key);
    else sessionStorage.setItem(PREFIX + key, text);
  },
  /** Returns true if a draft is stored whose key begins with `prefix`. */
  any: (prefix: string): boolean => Object.keys(sessionStorage).some((key) => key.startsWith(PREFIX + prefix)),
  /** Removes all drafts whose key begins with `prefix`: `int_…` removes everything that was typed on this card. */
  forget(prefix: string): void {
    for (const key of Object.keys(sessionStorage)) {
      if (key.startsWith(PREFIX + prefix)) sessionStorage.removeItem(key);
    }
  },
};
