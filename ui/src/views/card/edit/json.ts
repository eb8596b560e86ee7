// JSON that a person types: its value, or where it is broken.

export type Parsed = { value: unknown } | { line: number; message: string };

export function parse(text: string): Parsed {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    const message = (error as Error).message;
    return { line: line(text, message), message };
  }
}

/** Engines name a line, or a position, or nothing: then it is the end that is missing. */
function line(text: string, message: string): number {
  const named = /line (\d+)/.exec(message)?.[1];
  if (named) return Number(named);
  const position = /position (\d+)/.exec(message)?.[1];
  return text.slice(0, position ? Number(position) : text.length).split("\n").length;
}
