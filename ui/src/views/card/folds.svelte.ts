// Names the parts of a card that are folded or cut and were never opened. An option that lets work continue shows their
// number and asks for confirmation, with their names. The app reports the card as viewed when no such part
// is left.
import { getContext, setContext, untrack } from "svelte";
import { plain } from "../../parts/plain";
import { t } from "../../texts";

const FOLDS = Symbol();

/** Maximum number of parts that are named. */
const NAMED = 5;
/** Maximum number of letters of a text's beginning. */
const BEGINNING = 24;

export class Folds {
  #parts = $state.raw<string[][]>([]);

  get count(): number {
    return this.#parts.flat().length;
  }

  /** Returns the names of the parts, as the card shows them: at most `limit` names, and the number of the others. */
  names(limit = NAMED): string {
    const all = this.#parts.flat();
    const named = all.slice(0, limit).join(", ");
    return all.length > limit ? t("card.folded.more", { named, n: all.length - limit }) : named;
  }

  /** Adds parts by their names. Returns a function that removes these parts. */
  add(names: string[]): () => void {
    this.#parts = [...this.#parts, names];
    return () => (this.#parts = this.#parts.filter((each) => each !== names));
  }
}

/** Returns the first words of a text, as the name of the text. */
export function firstWords(text: string): string {
  const [line = ""] = text.trim().split("\n", 1);
  return `“${[...line].slice(0, BEGINNING).join("")}…”`;
}

/** Describes how many parts were not shown, with the name of the first part. */
export function notShown(folds: Folds): string {
  const names = folds.names(1);
  return folds.count === 1 ? t("card.folded.one", { names }) : t("card.folded", { n: folds.count, names });
}

/**
 * Starts counting the folds of all components below the calling component. Without an argument, these folds are not
 * counted. Call this function while the component is created.
 */
export function countFolds(folds?: Folds): void {
  setContext(FOLDS, folds);
}

/**
 * Adds the result of `folded`: the names of the parts that were never opened. Call this function while the component is
 * created.
 */
export function fold(folded: () => string[]): void {
  const folds = getContext<Folds | undefined>(FOLDS);
  if (!folds) return;
  $effect(() => {
    const names = folded().map((name) => plain(name) || "…");
    if (names.length === 0) return;
    const remove = untrack(() => folds.add(names));
    return () => untrack(remove);
  });
}
