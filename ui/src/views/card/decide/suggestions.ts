// What a question says, and the answers that it suggests.
import type { Interrupt } from "../../../api/types";
import { flat } from "../edit/schema";
import { data, text, texts } from "../payload";

/** The answers that a question suggests. */
export function suggestions(interrupt: Interrupt): string[] {
  const isAnswerable = interrupt.options.some((option) => option.id === "answer" && option.needs_text);
  if (interrupt.kind !== "question" || !isAnswerable) return [];
  const own = texts(data(interrupt.payload).choices);
  // The texts that its schema allows are answers, too.
  if (own.length > 0) return own;
  const schema = data(flat(interrupt.response_schema, interrupt.response_schema)?.schema);
  return texts("const" in schema ? [schema.const] : schema.enum);
}

/** What is read aloud: all of the question, of which the title may be the beginning, and what it says to answer it. */
export function spoken(interrupt: Interrupt): string[] {
  const payload = data(interrupt.payload);
  const all = [text(payload, "question") ?? interrupt.title, text(payload, "context") ?? interrupt.message];
  return all.map((each) => each.trim()).filter((each) => each !== "");
}
