// The secret of a login, stored in the origin's local storage. A login also needs a session cookie, which scripts
// cannot read.

const KEY = "holdshort.secret";

export const secret = {
  read: (): string | null => localStorage.getItem(KEY),
  keep: (value: string): void => localStorage.setItem(KEY, value),
  forget: (): void => localStorage.removeItem(KEY),
};
