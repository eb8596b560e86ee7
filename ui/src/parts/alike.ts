// Words that can be taken for others, because letters of other scripts look like ours: whoever draws texts of agents
// says which they are, and every text below shows which letters make the difference.
import { getContext, setContext } from "svelte";
import type { Piece } from "./plain";

const WORDS = Symbol();

/** To be called in a component: for all texts below it. */
export function markWords(words: () => string[]): void {
  setContext(WORDS, words);
}

/** To be called in a component. */
export function markedWords(): () => string[] {
  return getContext<(() => string[]) | undefined>(WORDS) ?? (() => []);
}

export const isForeign = (letter: string): boolean => letter > "~";

/** The same pieces, with the foreign letters of those words apart. */
export function withForeign(pieces: Piece[], words: string[]): Piece[] {
  return words.reduce((before, word) => before.flatMap((piece) => (piece.hidden || piece.foreign ? [piece] : apart(piece, word))), pieces);
}

function apart({ text }: Piece, word: string): Piece[] {
  if (!word) return [{ text, hidden: false }];
  const shown = (text: string, foreign: boolean): Piece => ({ text, hidden: false, foreign });
  const letters = Array.from(word).map((letter) => shown(letter, isForeign(letter)));
  return text.split(word).flatMap((part, i) => [...(i > 0 ? letters : []), ...(part ? [shown(part, false)] : [])]);
}
