// Converts the value of a `datetime-local` field. Such a value has no time zone, so the browser's time zone is used.

/** Returns the timestamp of a local time. Invalid text is returned unchanged, so that the server rejects it. */
export function instant(local: string): string | undefined {
  if (local === "") return undefined;
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? local : at.toISOString();
}

/** Returns the local time of a timestamp, for the field. */
export function local(at: string | null | undefined): string {
  if (!at) return "";
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
