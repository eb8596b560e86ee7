// The answers that a question suggests.
import type { Interrupt } from "../../../api/types";
import { data, texts } from "../payload";

/** The answers that a question suggests. */
export function suggestions(interrupt: Interrupt): string[] {
  const isAnswerable = interrupt.options.some((option) => option.id === "answer" && option.needs_text);
  if (interrupt.kind !== "question" || !isAnswerable) return [];
  const own = texts(data(interrupt.payload).choices);
  // The texts that its schema allows are answers, too.
  return own.length > 0 ? own : texts(data(interrupt.response_schema).enum);
}
