// Counts the parts of a card that are folded or cut and were never opened. An option that lets work continue shows the
// count and asks for confirmation. A view is recorded when the count is zero.
import { getContext, setContext, untrack } from "svelte";
import { t } from "../../texts";

const FOLDS = Symbol();

export class Folds {
  count = $state(0);
}

export function notShown(count: number): string {
  return count === 1 ? t("card.folded.one") : t("card.folded", { n: count });
}

/**
 * Starts counting the folds of all components below the calling component. Without an argument, these folds are not
 * counted. Call this function while the component is created.
 */
export function countFolds(folds?: Folds): void {
  setContext(FOLDS, folds);
}

/**
 * Adds the result of `folded`, the number of parts that were never opened. Call this function while the component is
 * created.
 */
export function fold(folded: () => number): void {
  const folds = getContext<Folds | undefined>(FOLDS);
  if (!folds) return;
  $effect(() => {
    const n = folded();
    untrack(() => (folds.count += n));
    return () => untrack(() => (folds.count -= n));
  });
}
