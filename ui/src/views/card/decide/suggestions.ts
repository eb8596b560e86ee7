// The spoken text of a question, and its suggested answers.
import type { Interrupt } from "../../../api/types";
import { flat } from "../edit/schema";
import { data, text, texts } from "../payload";

/** Returns the answers that a question suggests. */
export function suggestions(interrupt: Interrupt): string[] {
  const isAnswerable = interrupt.options.some((option) => option.id === "answer" && option.needs_text);
  if (interrupt.kind !== "question" || !isAnswerable) return [];
  const own = texts(data(interrupt.payload).choices);
  // If the payload has no suggestions, the texts that the response schema allows are suggested.
  if (own.length > 0) return own;
  const schema = data(flat(interrupt.response_schema, interrupt.response_schema)?.schema);
  return texts("const" in schema ? [schema.const] : schema.enum);
}

/** Returns the texts to read aloud: the complete question, because the title may be shortened, and its context. */
export function spoken(interrupt: Interrupt): string[] {
  const payload = data(interrupt.payload);
  const all = [text(payload, "question") ?? interrupt.title, text(payload, "context") ?? interrupt.message];
  return all.map((each) => each.trim()).filter((each) => each !== "");
}
