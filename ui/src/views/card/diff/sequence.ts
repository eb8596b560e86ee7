// Finds the items that two sequences have in common, in order. Every comparison on a card uses this module.

/**
 * Maximum number of table cells. In larger sequences, everything between the common start and the common end is
 * treated as different.
 */
const CELLS = 250_000;

export interface Shared {
  /** By index: true if the item is in both sequences, in the same order. */
  old: boolean[];
  new: boolean[];
}

export function shared(a: readonly string[], b: readonly string[]): Shared {
  const out: Shared = { old: a.map(() => false), new: b.map(() => false) };
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    out.old[start] = out.new[start] = true;
    start += 1;
  }
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
    out.old[endA] = out.new[endB] = true;
  }
  longest(endA - start, endB - start, (i, j) => (a[start + i] === b[start + j] ? 1 : 0), (i, j) => {
    out.old[start + i] = out.new[start + j] = true;
  });
  return out;
}

/** Finds the pairs (i, j), increasing in i and in j, with the highest sum of gains. */
export function longest(
  rows: number,
  columns: number,
  gain: (i: number, j: number) => number,
  take: (i: number, j: number) => void,
): void {
  if (rows === 0 || columns === 0 || rows * columns > CELLS) return;
  const width = columns + 1;
  const best = new Float64Array((rows + 1) * width);
  const at = (i: number, j: number): number => best[i * width + j] ?? 0;
  const gains = new Float64Array(rows * columns);
  for (let i = rows - 1; i >= 0; i -= 1) {
    for (let j = columns - 1; j >= 0; j -= 1) {
      const gained = gain(i, j);
      gains[i * columns + j] = gained;
      const taken = gained > 0 ? gained + at(i + 1, j + 1) : 0;
      best[i * width + j] = Math.max(taken, at(i + 1, j), at(i, j + 1));
    }
  }
  for (let i = 0, j = 0; i < rows && j < columns; ) {
    const gained = gains[i * columns + j] ?? 0;
    if (gained > 0 && at(i, j) === gained + at(i + 1, j + 1)) take(i++, j++);
    else if (at(i, j) === at(i + 1, j)) i += 1;
    else j += 1;
  }
}
