// Warnings of the server about content that could deceive the approver.
import { isForeign } from "../../parts/alike";
import type { Interrupt } from "../../api/types";
import { data, list, text } from "./payload";

export interface Warning {
  kind: string;
  /** JSON pointer into the interrupt. */
  at: string;
  text: string;
  looksLike?: string;
}

export function warnings(interrupt: Interrupt): Warning[] {
  return list((interrupt as { warnings?: unknown }).warnings).map((each) => {
    const warning = data(each);
    return {
      kind: text(warning, "kind") ?? "more",
      at: text(warning, "at") ?? "",
      text: text(warning, "text") ?? "",
      looksLike: text(warning, "looks_like"),
    };
  });
}

/** Returns the words that imitate other words, as they are spelled in the interrupt. */
export function lookAlikes(interrupt: Interrupt): string[] {
  const found = warnings(interrupt).filter((warning) => warning.kind === "look_alike");
  // The server shortens a long word and appends `…`.
  return found.map(({ text }) => text.replace(/…$/, ""));
}

/**
 * Returns the letters of a word outside ASCII with their code points, because these letters look like ASCII letters.
 */
export function foreignLetters(word: string): string[] {
  const letters = Array.from(word).filter(isForeign);
  const code = (letter: string): string => (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return [...new Set(letters)].map((letter) => `${letter} U+${code(letter)}`);
}
