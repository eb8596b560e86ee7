// Word-by-word differences between two versions of one line.
import { shared } from "./sequence";

export interface Segment {
  text: string;
  changed: boolean;
}

/** Maximum number of words of a line that is compared. */
const WORDS = 500;
/** Minimum share of common letters for which two lines are versions of the same line. */
const ALIKE = 0.35;

export function tokens(line: string): string[] {
  return line.match(/[\p{L}\p{M}\p{N}_]+|\s+|[^]/gu) ?? [];
}

/** Returns the similarity of two lines, from 0 (nothing in common) to 1 (equal). Blanks are ignored. */
export function likeness(a: readonly string[], b: readonly string[]): number {
  const counts = new Map<string, number>();
  let total = 0;
  for (const token of a) {
    if (token.trim() === "") continue;
    counts.set(token, (counts.get(token) ?? 0) + 1);
    total += token.length;
  }
  let common = 0;
  for (const token of b) {
    if (token.trim() === "") continue;
    total += token.length;
    const known = counts.get(token) ?? 0;
    if (known > 0) {
      counts.set(token, known - 1);
      common += token.length;
    }
  }
  return total === 0 ? 1 : (2 * common) / total;
}

export function isAlike(likeness: number): boolean {
  return likeness >= ALIKE;
}

export function whole(text: string): Segment[] {
  return [{ text, changed: false }];
}

/**
 * Returns both lines, split where they differ. The lines are not split if they have too little in common to help the
 * reader.
 */
export function compared(old: string, now: string): { old: Segment[]; new: Segment[] } {
  const [a, b] = [tokens(old), tokens(now)];
  if (a.length > WORDS || b.length > WORDS || !isAlike(likeness(a, b))) return { old: whole(old), new: whole(now) };
  const kept = shared(a, b);
  return { old: segments(a, kept.old), new: segments(b, kept.new) };
}

function segments(words: readonly string[], kept: readonly boolean[]): Segment[] {
  const out: Segment[] = [];
  words.forEach((text, i) => {
    const last = out.at(-1);
    const changed = !kept[i];
    if (last && last.changed === changed) last.text += text;
    else out.push({ text, changed });
  });
  return out;
}
