// Reports to the server that a person has seen a complete open card, once per interrupt and page. Errors are not shown
// to the person, because only the record of the view is missing. This module also measures how long the card was
// visible before the decision.
import { post } from "../../api/client";

interface Look {
  /** Visible time before `since`, in milliseconds. If `since` is set, the card has been visible since then. */
  ms: number;
  since: number | undefined;
  isShown: boolean;
}

const told = new Set<string>();
const looks = new Map<string, Look>();

function count(look: Look): void {
  const now = performance.now();
  if (look.since !== undefined) look.ms += now - look.since;
  look.since = look.isShown && document.visibilityState === "visible" ? now : undefined;
}

document.addEventListener("visibilitychange", () => looks.forEach(count));

/** Reports that the complete card was shown. */
export function tell(id: string): void {
  if (told.has(id)) return;
  told.add(id);
  post(`/v1/interrupts/${encodeURIComponent(id)}/views`).catch(() => told.delete(id));
}

/** Starts the clock of a card. The returned function stops the clock when the card is removed. */
export function viewed(id: string): () => void {
  const look = looks.get(id) ?? { ms: 0, since: undefined, isShown: false };
  looks.set(id, look);
  const show = (isShown: boolean): void => {
    look.isShown = isShown;
    count(look);
  };
  show(true);
  return () => show(false);
}

/** Returns how long the card was visible on this page. Empty if the card was not shown. */
export function viewedMs(id: string): { viewed_ms?: number } {
  const look = looks.get(id);
  if (!look) return {};
  count(look);
  return { viewed_ms: Math.round(look.ms) };
}
