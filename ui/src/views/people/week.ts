// Weekly working hours in the form that people write: one line for days with equal hours, `mon-fri: 09:00-12:00,
// 13:00-17:00`.
import type { Hours } from "../../api/types";

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/** Formats working hours as lines. Consecutive days with equal hours share one line. */
export function lines(week: Hours["week"]): string[] {
  const found: { from: string; to: string; parts: string }[] = [];
  DAYS.forEach((day, n) => {
    const parts = week[day]?.join(", ") ?? "";
    const last = found.at(-1);
    if (parts && last?.parts === parts && last.to === DAYS[n - 1]) last.to = day;
    else if (parts) found.push({ from: day, to: day, parts });
  });
  return found.map(({ from, to, parts }) => `${from === to ? from : `${from}-${to}`}: ${parts}`);
}

/**
 * Parses the typed lines. The server checks the values. If a line has no day or no times, returns the number of this
 * line, from 1.
 */
export function read(text: string): Hours["week"] | number {
  const week: Hours["week"] = {};
  const typed = text.split("\n").map((line) => line.trim());
  for (const [n, line] of typed.entries()) {
    if (!line) continue;
    const [, days, parts] = /^([^:]+):\s*(\S.*)$/.exec(line) ?? [];
    if (!days || !parts) return n + 1;
    const name = days.trim();
    week[name] = [...(week[name] ?? []), ...parts.split(",").map((part) => part.trim()).filter(Boolean)];
  }
  return week;
}
