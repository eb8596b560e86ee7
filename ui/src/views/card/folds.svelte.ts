// Counts the parts of a card that are out of sight: folded or cut, and not opened yet. An option that lets something go on
// shows the count and asks once more. A look is recorded when the count is zero.
import { getContext, setContext, untrack } from "svelte";
import { t } from "../../texts";

const FOLDS = Symbol();

export class Folds {
  count = $state(0);
}

export function notShown(count: number): string {
  return count === 1 ? t("card.folded.one") : t("card.folded", { n: count });
}

/** To be called in a component. Counts the folds below it; without an argument none of them counts. */
export function countFolds(folds?: Folds): void {
  setContext(FOLDS, folds);
}

/** To be called in a component. `folded`: how many parts were never opened. */
export function fold(folded: () => number): void {
  const folds = getContext<Folds | undefined>(FOLDS);
  if (!folds) return;
  $effect(() => {
    const n = folded();
    untrack(() => (folds.count += n));
    return () => untrack(() => (folds.count -= n));
  });
}
