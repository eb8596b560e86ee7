// The half of a login that lives in the origin's storage. The other half is a cookie that scripts can not read.

const KEY = "holdshort.secret";

export const secret = {
  read: (): string | null => localStorage.getItem(KEY),
  keep: (value: string): void => localStorage.setItem(KEY, value),
  forget: (): void => localStorage.removeItem(KEY),
};
