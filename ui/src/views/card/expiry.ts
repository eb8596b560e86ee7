// The time left before an interrupt expires, and the moments at which screen readers announce it.
import { unit } from "../../parts/age";
import { t } from "../../texts";

/** Remaining seconds at which the time is announced. */
const SPOKEN = [600, 300, 60, 20];

export function secondsLeft(until: string, now: number): number {
  return Math.max(0, Math.ceil((Date.parse(until) - now) / 1_000));
}

/** Formats seconds with at most two units: `2 d 3 h`, `4 min 12 s`. */
export function left(seconds: number): string {
  if (seconds >= 86_400) return pair("time.days", seconds / 86_400, "time.hours", (seconds % 86_400) / 3_600);
  if (seconds >= 3_600) return pair("time.hours", seconds / 3_600, "time.minutes", (seconds % 3_600) / 60);
  if (seconds >= 60) return pair("time.minutes", seconds / 60, "time.seconds", seconds % 60);
  return t("time.seconds", { n: seconds });
}

/** Number of remaining seconds below which every second is shown, and every page shows the interrupt. */
export const SOON = 300;

/** Formats seconds for a list: with one unit, or with two units if little time is left. */
export function due(seconds: number): string {
  return seconds > SOON ? unit(seconds) : left(seconds);
}

type Unit = "time.days" | "time.hours" | "time.minutes" | "time.seconds";

function pair(large: Unit, n: number, small: Unit, rest: number): string {
  const first = t(large, { n: Math.floor(n) });
  return Math.floor(rest) > 0 ? `${first} ${t(small, { n: Math.floor(rest) })}` : first;
}

/** Returns the last threshold that was reached. This value changes rarely, so it can be announced. */
export function threshold(seconds: number): number | undefined {
  return seconds === 0 ? 0 : SPOKEN.findLast((at) => seconds <= at);
}
