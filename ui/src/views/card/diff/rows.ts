// The numbered rows of a hunk. A removed line and an added line that are versions of the same line are paired and
// compared. `sides.ts` arranges the rows in two columns.
import type { Hunk, Line, Op } from "./diff";
import { longest } from "./sequence";
import { compared, isAlike, likeness, type Segment, tokens, whole } from "./words";

/**
 * Maximum number of line pairs that are compared in one change. In a larger change, only lines at the same position
 * are paired.
 */
const LOOKED_AT = 1_000;

export interface Row {
  op: Op;
  old?: number;
  new?: number;
  segments: Segment[];
  isUnended: boolean;
}

/** Returns the rows for one column. */
export function unified(hunk: Hunk): Row[] {
  return blocks(hunk).flatMap((block) => [...block.old, ...block.new]);
}

/**
 * Either unchanged lines (all in `old`), or a change: removed lines, added lines, and the pairs of lines that are
 * versions of the same line.
 */
export interface Block {
  isSame: boolean;
  old: Row[];
  new: Row[];
  pairs: [number, number][];
}

/** Splits a hunk into unchanged lines and changes. */
export function blocks(hunk: Hunk): Block[] {
  const out: Block[] = [];
  let old = hunk.oldStart;
  let now = hunk.newStart;
  for (const line of hunk.lines) {
    const isSame = line.op === " ";
    let block = out.at(-1);
    // Removed lines precede added lines, so a `-` after a `+` begins the next change.
    if (!block || block.isSame !== isSame || (line.op === "-" && block.new.length > 0)) {
      block = { isSame, old: [], new: [], pairs: [] };
      out.push(block);
    }
    if (line.op === "+") block.new.push(row(line, undefined, now++));
    else block.old.push(row(line, old++, isSame ? now++ : undefined));
  }
  out.forEach(compare);
  return out;
}

function row(line: Line, old: number | undefined, now: number | undefined): Row {
  return { op: line.op, old, new: now, segments: whole(line.text), isUnended: line.isUnended };
}

function compare({ old, new: now, pairs }: Block): void {
  const words = (rows: Row[]): string[][] => rows.map((row) => tokens(written(row)));
  const [before, after] = [words(old), words(now)];
  const gain = (i: number, j: number): number => {
    const alike = likeness(before[i] ?? [], after[j] ?? []);
    return isAlike(alike) ? alike : 0;
  };
  const pair = (i: number, j: number): void => {
    const [left, right] = [old[i]!, now[j]!];
    const marked = compared(written(left), written(right));
    left.segments = marked.old;
    right.segments = marked.new;
    pairs.push([i, j]);
  };
  if (old.length * now.length <= LOOKED_AT) longest(old.length, now.length, gain, pair);
  else for (let i = 0; i < Math.min(old.length, now.length); i += 1) if (gain(i, i) > 0) pair(i, i);
}

function written(row: Row): string {
  return row.segments.map((segment) => segment.text).join("");
}
