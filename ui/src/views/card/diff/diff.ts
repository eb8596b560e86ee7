// A diff as the tools give it, and one that is made here of two texts.
import { type Data, data, list, text } from "../payload";
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

/** Lines of a new file that are drawn, all of them; more would hold up the page. */
const DRAWN = 20_000;

/** A change as it can be shown: of a new file all of it is in the call, however little of it the runtime drew. */
export function whole(diff: Diff | undefined, payload: Data): Diff | undefined {
  const content = text(data(payload.arguments), "content");
  if (!diff?.truncated || payload.new_file !== true || content === undefined) return diff;
  const all = listing(content, "+");
  return !all ? diff : { ...all, added: all.hunks[0]!.lines.length };
}

/** All lines of a text, under one mark; nothing of one that is too long. */
export function listing(content: string, op: Op): Diff | undefined {
  const isEnded = content.endsWith("\n");
  const texts = (isEnded ? content.slice(0, -1) : content).split("\n");
  if (texts.length > DRAWN) return undefined;
  const lines = texts.map((text, i) => ({ op, text, isUnended: !isEnded && i === texts.length - 1 }));
  return { hunks: [{ oldStart: 1, newStart: 1, lines }], added: 0, removed: 0, truncated: false };
}

/** Lines that change and are not drawn. */
export function undrawn(diff: Diff): { added: number; removed: number } {
  const drawn = (op: Op): number => diff.hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.op === op).length, 0);
  return { added: diff.added - drawn("+"), removed: diff.removed - drawn("-") };
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
