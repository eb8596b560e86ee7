// Arrangement of the options in the bar: the main option and the rejection are buttons, all others are in a menu.
import type { CardOption } from "../../../api/types";

export interface Arranged {
  shown: CardOption[];
  menu: CardOption[];
}

/** A menu has at least this number of options. A single option is a button. */
const LEAST = 2;

/**
 * Returns the options as buttons and menu. Options without a main option are equal, as in a choice, so that all of
 * them are buttons.
 */
export function arrange(options: CardOption[]): Arranged {
  const main = options.find((option) => option.is_main);
  if (!main) return { shown: options, menu: [] };
  const refusal = options.find((option) => option.key === "r") ?? options.findLast((option) => option.tone === "stop");
  const first = refusal && refusal !== main ? [main, refusal] : [main];
  const menu = options.filter((option) => !first.includes(option));
  return menu.length < LEAST ? { shown: options, menu: [] } : { shown: first, menu };
}

/** Returns all options in the order in which the bar shows them. The digits 1 to 9 choose by this order. */
export function inOrder(options: CardOption[]): CardOption[] {
  const { shown, menu } = arrange(options);
  return [...shown, ...menu];
}
