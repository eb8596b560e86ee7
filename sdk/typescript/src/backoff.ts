// Waiting between two attempts: exponential with full jitter, so that many agents do not return at once.

const BASE_MS = 200;
const MAX_MS = 10_000;

/** Returns the wait before attempt `attempt` (from 1), in milliseconds. `Retry-After` is a lower bound. */
export function backoffMs(attempt: number, retryAfterMs = 0): number {
  const ceiling = Math.min(MAX_MS, BASE_MS * 2 ** Math.min(attempt, 10));
  return retryAfterMs + Math.random() * ceiling;
}

/** Returns the value of a `Retry-After` header in milliseconds. Returns 0 without a valid value. */
export function retryAfterMs(header: string | null, now = Date.now()): number {
  if (header === null) return 0;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1000;
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}

/** Waits. An aborted signal ends the wait with the signal's reason. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
