// Reads an interrupt with its card.
import { get } from "../../api/client";
import type { Carded } from "../../api/types";
import { later } from "../later";

/**
 * Returns the interrupt with its card. The note about a freeze is loaded first, because it is drawn together with the
 * card: content must not move under a click.
 */
export async function readCard(id: string): Promise<Carded> {
  const interrupt = await get<Carded>(`/v1/interrupts/${encodeURIComponent(id)}`);
  if (interrupt.frozen) await later.held().catch(() => undefined);
  return interrupt;
}
