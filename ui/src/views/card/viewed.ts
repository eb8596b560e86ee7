// Tells the server that a person has seen all of an open card: once for each, while this page is there. A request that fails
// is not reported: the record then lacks a look, and nothing else. Counts how long the card is visible until they decide.
import { post } from "../../api/client";

interface Look {
  /** Before `since`, from which on it is visible now. */
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

/** All of the card was shown. */
export function tell(id: string): void {
  if (told.has(id)) return;
  told.add(id);
  post(`/v1/interrupts/${encodeURIComponent(id)}/views`).catch(() => told.delete(id));
}

/** Begins to count. The function that it returns ends the look: the card is gone. */
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

/** How long its card was visible in this page so far; nothing where it was not shown. */
export function viewedMs(id: string): { viewed_ms?: number } {
  const look = looks.get(id);
  if (!look) return {};
  count(look);
  return { viewed_ms: Math.round(look.ms) };
}
