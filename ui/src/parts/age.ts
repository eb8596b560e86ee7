// Elapsed or remaining time in its largest suitable unit.
import { t } from "../texts";

export function age(from: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(from)) / 1_000));
  return seconds < 5 ? t("time.now") : unit(seconds);
}

export function unit(seconds: number): string {
  if (seconds < 90) return t("time.seconds", { n: seconds });
  if (seconds < 90 * 60) return t("time.minutes", { n: Math.round(seconds / 60) });
  if (seconds < 36 * 3_600) return t("time.hours", { n: Math.round(seconds / 3_600) });
  return t("time.days", { n: Math.round(seconds / 86_400) });
}

/** Returns the local time of a timestamp, to the second. */
export function moment(at: string): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}
