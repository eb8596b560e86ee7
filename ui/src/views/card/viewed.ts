// Reports to the server that a person has seen a whole open card, once per interrupt and page. A failed request is not
// reported to the person: only the record of that view is missing. Measures how long the card is visible until the
// decision.
import { post } from "../../api/client";

interface Look {
  /** Visible time before `since`, in milliseconds. If `since` is set, the card is visible from then on. */
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

/** Reports that the whole card was shown. */
export function tell(id: string): void {
  if (told.has(id)) return;
  told.add(id);
  post(`/v1/interrupts/${encodeURIComponent(id)}/views`).catch(() => told.delete(id));
}

/** Starts the clock of a card. The returned function stops it when the card is removed. */
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

/** Returns how long the card was visible on this page; empty if it was not shown. */
export function viewedMs(id: string): { viewed_ms?: number } {
  const look = looks.get(id);
  if (!look) return {};
  count(look);
  return { viewed_ms: Math.round(look.ms) };
}
