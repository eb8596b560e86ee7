// Diffs in the format of the tools, and diffs of two texts.
import { data, list } from "../payload";
import { shared } from "./sequence";

export type Op = " " | "-" | "+";

export interface Line {
  op: Op;
  text: string;
  /** True for the last line of a file that does not end with a line break. */
  isUnended: boolean;
}

export interface Hunk {
  oldStart: number;
  newStart: number;
  lines: Line[];
}

export interface Diff {
  hunks: Hunk[];
  added: number;
  removed: number;
  truncated: boolean;
}

/** Returns the diff in a payload. Undefined if its format is unknown. */
export function readDiff(value: unknown): Diff | undefined {
  const diff = data(value);
  if (!Array.isArray(diff.hunks)) return undefined;
  const hunks = list(diff.hunks).map((each) => {
    const hunk = data(each);
    return {
      oldStart: Number(hunk.old_start) || 1,
      newStart: Number(hunk.new_start) || 1,
      lines: list(hunk.lines).map(readLine),
    };
  });
  return {
    hunks,
    added: Number(diff.added) || 0,
    removed: Number(diff.removed) || 0,
    truncated: diff.truncated === true,
  };
}

function readLine(value: unknown): Line {
  const line = data(value);
  return {
    op: line.op === "+" || line.op === "-" ? line.op : " ",
    text: typeof line.text === "string" ? line.text : "",
    isUnended: line.no_newline_at_end === true,
  };
}

/** Returns the numbers of added and removed lines that are not drawn. */
export function undrawn(diff: Diff): { added: number; removed: number } {
  const drawn = (op: Op): number => diff.hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.op === op).length, 0);
  return { added: diff.added - drawn("+"), removed: diff.removed - drawn("-") };
}

/** Returns true if the change removes all content of the file. */
export function isEmptied(diff: Diff): boolean {
  return !diff.truncated && diff.hunks.length === 1 && diff.hunks[0]!.lines.every((line) => line.op === "-");
}

/** Returns a diff with all lines of both texts. */
export function between(old: string, now: string): Diff {
  // An empty text has no lines, not one empty line.
  const [a, b] = [old, now].map((text) => (text === "" ? [] : text.split("\n"))) as [string[], string[]];
  const kept = shared(a, b);
  const lines: Line[] = [];
  const put = (op: Op, text: string): number => lines.push({ op, text, isUnended: false });
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && !kept.old[i]) put("-", a[i++]!);
    else if (j < b.length && !kept.new[j]) put("+", b[j++]!);
    else {
      put(" ", a[i++]!);
      j += 1;
    }
  }
  const count = (op: Op): number => lines.filter((line) => line.op === op).length;
  return { hunks: [{ oldStart: 1, newStart: 1, lines }], added: count("+"), removed: count("-"), truncated: false };
}
