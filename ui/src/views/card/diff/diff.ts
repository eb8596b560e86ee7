// A diff as the tools give it, and one that is made here of two texts.
import { data, list } from "../payload";
import { shared } from "./sequence";

export type Op = " " | "-" | "+";

export interface Line {
  op: Op;
  text: string;
  /** The last line of a file that has no line break behind it. */
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

/** The diff of a payload, if it is one that this version understands. */
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

/** Nothing of the file is left. */
export function isEmptied(diff: Diff): boolean {
  return !diff.truncated && diff.hunks.length === 1 && diff.hunks[0]!.lines.every((line) => line.op === "-");
}

/** All of both texts, what differs marked. */
export function between(old: string, now: string): Diff {
  // A text that is empty has no line, not an empty one.
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
