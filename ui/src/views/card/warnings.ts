// What could deceive the person who decides, as the server found it.
import { isForeign } from "../../parts/alike";
import type { Interrupt } from "../../api/types";
import { data, list, text } from "./payload";

export interface Warning {
  kind: string;
  /** A JSON pointer into the interrupt. */
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

/** The words that can be taken for others, as they stand in the texts of the interrupt. */
export function lookAlikes(interrupt: Interrupt): string[] {
  const found = warnings(interrupt).filter((warning) => warning.kind === "look_alike");
  // A long one is cut.
  return found.map(({ text }) => text.replace(/…$/, ""));
}

/** The letters of a word that ASCII does not have, with their numbers: the eye does not tell them apart. */
export function foreignLetters(word: string): string[] {
  const letters = Array.from(word).filter(isForeign);
  const code = (letter: string): string => (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return [...new Set(letters)].map((letter) => `${letter} U+${code(letter)}`);
}
