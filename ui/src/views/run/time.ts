// Formats times. Formatters are created only once, because creating one takes longer than using it a hundred times.
import { age } from "../../parts/age";

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** Returns the local time of day. */
export function clockOf(at: string): string {
  return CLOCK.format(new Date(at));
}

/** Returns the local date and time. */
export function momentOf(at: string): string {
  return MOMENT.format(new Date(at));
}

/** Formats the duration between two timestamps. */
export function took(from: string, to: string): string {
  const ms = Math.max(0, Date.parse(to) - Date.parse(from));
  return ms < 9_950 ? `${(ms / 1_000).toFixed(1)} s` : age(from, Date.parse(to));
}
