// Text that a person has typed and not sent. It is kept per subject in this tab, also across a reload.

const PREFIX = "holdshort.draft.";

export const drafts = {
  read: (key: string): string => sessionStorage.getItem(PREFIX + key) ?? "",
  keep(key: string, text: string): void {
    if (text === "") sessionStorage.removeItem(PREFIX + key);
    else sessionStorage.setItem(PREFIX + key, text);
  },
  /** Returns true if a draft is kept below a key. */
  any: (prefix: string): boolean => Object.keys(sessionStorage).some((key) => key.startsWith(PREFIX + prefix)),
  /** Removes all drafts below a key: `int_…` removes everything typed on that card. */
  forget(prefix: string): void {
    for (const key of Object.keys(sessionStorage)) {
      if (key.startsWith(PREFIX + prefix)) sessionStorage.removeItem(key);
    }
  },
};
