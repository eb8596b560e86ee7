// Labels of options, for outcomes and deadlines.
import type { Interrupt, Resolution } from "../../api/types";
import { word } from "../../texts";

/** Returns the label of an option, or its id if the option is not listed. */
export function label(interrupt: Interrupt, id: string): string {
  return interrupt.options.find((option) => option.id === id)?.label ?? id;
}

/**
 * Returns the label of the chosen option. Empty if the outcome has the same meaning, such as *Approve* and *approved*.
 */
export function optionBeside(interrupt: Interrupt, { option, outcome }: Resolution): string {
  const name = option ? label(interrupt, option) : "";
  return word("outcome", outcome).toLowerCase().startsWith(name.toLowerCase()) ? "" : name;
}
