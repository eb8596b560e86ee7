// Says that a person looks at an open card: once for each, while this page is there. What does not arrive is no reason to
// tell anybody: the record then lacks a look, and nothing else.
import { post } from "../../api/client";

const told = new Set<string>();

export function viewed(id: string): void {
  if (told.has(id)) return;
  told.add(id);
  post(`/v1/interrupts/${encodeURIComponent(id)}/views`).catch(() => told.delete(id));
}
