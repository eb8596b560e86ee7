// Converts the value of a `datetime-local` field, which has no time zone. It uses the browser's zone.

/** Returns the instant. Text that is not a time is returned unchanged, so that the server rejects it. */
export function instant(local: string): string | undefined {
  if (local === "") return undefined;
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? local : at.toISOString();
}

/** Returns the local time of an instant, for the field. */
export function local(at: string | null | undefined): string {
  if (!at) return "";
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
