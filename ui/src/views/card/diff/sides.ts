// The lines of a hunk in two columns, with removed lines next to added lines.
import type { Hunk } from "./diff";
import { blocks, type Row } from "./rows";

export interface Sides {
  left?: Row;
  right?: Row;
}

/**
 * Returns the rows side by side. Two versions of the same line share a row. Other changed lines are paired in order.
 */
export function sides(hunk: Hunk): Sides[] {
  return blocks(hunk).flatMap((block) => {
    if (block.isSame) return block.old.map((row) => ({ left: row, right: row }));
    const out: Sides[] = [];
    let [i, j] = [0, 0];
    for (const [a, b] of [...block.pairs, [block.old.length, block.new.length] as const]) {
      for (; i < a || j < b; ) {
        out.push({ left: i < a ? block.old[i++] : undefined, right: j < b ? block.new[j++] : undefined });
      }
      if (a < block.old.length) out.push({ left: block.old[i++], right: block.new[j++] });
    }
    return out;
  });
}
