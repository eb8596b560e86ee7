// A moment of a field, which has no time zone: that of the browser counts.

/** What is no time is left to the server. */
export function instant(local: string): string | undefined {
  if (local === "") return undefined;
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? local : at.toISOString();
}

/** The other way: for the field. */
export function local(at: string | null | undefined): string {
  if (!at) return "";
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
