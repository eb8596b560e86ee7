// Parses JSON that a person types. Returns its value, or the line of the syntax error.
import { isData } from "../payload";

export type Parsed = { value: unknown } | { line: number; message: string };

export function parse(text: string): Parsed {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    const message = (error as Error).message;
    return { line: line(text, message), message };
  }
}

/**
 * Returns the line of a syntax error. The message of a JavaScript engine contains a line or a position. It contains
 * neither if the end of the text is missing.
 */
function line(text: string, message: string): number {
  const named = /line (\d+)/.exec(message)?.[1];
  if (named) return Number(named);
  const position = /position (\d+)/.exec(message)?.[1];
  return text.slice(0, position ? Number(position) : text.length).split("\n").length;
}

/** Returns JSON with the members sorted by name, so that equal data gives equal text. */
export function ordered(value: unknown): string {
  const byName = (_: string, each: unknown): unknown =>
    isData(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each;
  return JSON.stringify(value, byName) ?? "";
}
