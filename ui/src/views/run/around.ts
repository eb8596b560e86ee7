// Extracts a planner's text around its plan. The JSON of the plan is removed, because the card shows the plan.

const LISTS = ["subtasks", "sub_tasks", "steps", "plan"];

function isPlan(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) || (typeof value === "object" && value !== null && LISTS.some((key) => key in value));
  } catch {
    return false;
  }
}

/**
 * Returns the text without the JSON of the plan, in the same way as the server does for the card. A text without a
 * plan is returned unchanged.
 */
export function around(text: string): string {
  if (isPlan(text)) return "";
  const blocks = text.split("```");
  const hasPlan = (block: string, n: number): boolean => n % 2 === 1 && isPlan(block.slice(block.indexOf("\n") + 1));
  if (blocks.some(hasPlan)) {
    const kept = blocks.filter((block, n) => !hasPlan(block, n)).map((block) => block.trim());
    return kept.join("\n").trim();
  }
  for (const [open, close] of [["{", "}"], ["[", "]"]] as const) {
    const [from, to] = [text.indexOf(open), text.lastIndexOf(close)];
    if (from >= 0 && to > from && isPlan(text.slice(from, to + 1))) return `${text.slice(0, from).trim()} ${text.slice(to + 1).trim()}`.trim();
  }
  return text;
}
