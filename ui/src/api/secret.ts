// The half of a login that is kept in the origin's local storage. The other half is a cookie that scripts cannot read.

const KEY = "holdshort.secret";

export const secret = {
  read: (): string | null => localStorage.getItem(KEY),
  keep: (value: string): void => localStorage.setItem(KEY, value),
  forget: (): void => localStorage.removeItem(KEY),
};
