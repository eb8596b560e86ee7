// Idempotency keys. A request that is repeated with its key is asked once, also after a crash.

import { createHash } from "node:crypto";

/** Longest key that is sent as it is. The server accepts 255 bytes. */
const MAX_LENGTH = 200;

/**
 * Returns the idempotency key of a request from its parts, such as the framework, the conversation and the id of the
 * call. Equal parts give equal keys, and different parts give different keys.
 */
export function idempotencyKey(...parts: readonly string[]): string {
  if (parts.every((part) => part.isWellFormed())) {
    const key = parts.map(encode).join("/");
    if (key.length > 0 && key.length <= MAX_LENGTH) return key;
  }
  return `sha256/${createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`;
}

/** Percent-encodes everything but unreserved characters, so that `/` only separates parts. */
function encode(part: string): string {
  return encodeURIComponent(part).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
