// Words that imitate other words because letters of other scripts look like Latin letters. The component that shows
// texts of agents sets these words. Every text below this component marks the foreign letters.
import { getContext, setContext } from "svelte";
import type { Interrupt } from "../api/types";
import type { Piece } from "./plain";

const WORDS = Symbol();

/** Sets the words for all texts below the calling component. Call this function while the component is created. */
export function markWords(words: () => string[]): void {
  setContext(WORDS, words);
}

/** Returns the words that a parent component has set. Call this function while the component is created. */
export function markedWords(): () => string[] {
  return getContext<(() => string[]) | undefined>(WORDS) ?? (() => []);
}

export const isForeign = (letter: string): boolean => letter > "~";

/** Splits the pieces further, so that each foreign letter of these words is a separate piece. */
export function withForeign(pieces: Piece[], words: string[]): Piece[] {
  return words.reduce((before, word) => before.flatMap((piece) => (piece.hidden || piece.foreign ? [piece] : apart(piece, word))), pieces);
}

function apart({ text }: Piece, word: string): Piece[] {
  if (!word) return [{ text, hidden: false }];
  const shown = (text: string, foreign: boolean): Piece => ({ text, hidden: false, foreign });
  const letters = Array.from(word).map((letter) => shown(letter, isForeign(letter)));
  return text.split(word).flatMap((part, i) => [...(i > 0 ? letters : []), ...(part ? [shown(part, false)] : [])]);
}

/** Returns the words of an interrupt that imitate other words, as they are spelled. */
export function lookAlikes({ warnings = [] }: Interrupt): string[] {
  // The server shortens a long word and appends `…`.
  return warnings.filter(({ kind }) => kind === "look_alike").map(({ text }) => text.replace(/…$/, ""));
}
