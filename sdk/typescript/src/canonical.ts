// Canonical JSON (RFC 8785) and its SHA-256 digest.

import { createHash } from "node:crypto";
import { NotJson } from "./errors.js";

/** Deepest nesting that the server accepts. */
const MAX_DEPTH = 64;

/**
 * Returns the canonical JSON of a value: one text per value, so that equal values have equal digests.
 *
 * Members with the value `undefined` are left out, and objects with a `toJSON` method are converted, as in
 * `JSON.stringify`. Everything else that is not JSON throws {@link NotJson}.
 */
export function canonicalJson(value: unknown): string {
  return write(value, "", 0);
}

/** Returns the lower-case SHA-256 of the canonical JSON. */
export function digest(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value), "utf8").digest("hex");
}

/** Returns a copy of the value as plain JSON. */
export function jsonCopy<T>(value: T): T {
  return JSON.parse(canonicalJson(value)) as T;
}

function write(value: unknown, at: string, depth: number): string {
  switch (typeof value) {
    case "boolean":
      return value ? "true" : "false";
    case "string":
      return text(value, at);
    case "number":
      return number(value, at);
    case "object":
      if (value === null) return "null";
      return structure(value, at, depth);
    default:
      throw new NotJson(at, `it is ${typeof value === "undefined" ? "undefined" : `a ${typeof value}`}`);
  }
}

function text(value: string, at: string): string {
  if (!value.isWellFormed()) throw new NotJson(at, "it has half of a surrogate pair");
  // The escapes of `JSON.stringify` are those of RFC 8785, 3.2.2.2.
  return JSON.stringify(value);
}

function number(value: number, at: string): string {
  if (!Number.isFinite(value)) throw new NotJson(at, `it is ${value}`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new NotJson(at, "it is an integer beyond 2^53-1; write it as text");
  }
  return JSON.stringify(value);
}

function structure(value: object, at: string, depth: number): string {
  if (depth === MAX_DEPTH) throw new NotJson(at, "it is nested deeper than 64 levels, or contains itself");
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const plain: unknown = value.toJSON();
    if (plain !== value) return write(plain, at, depth + 1);
  }
  if (Array.isArray(value)) {
    const items = Array.from(value, (item, i) => write(item, `${at}/${i}`, depth + 1));
    return `[${items.join(",")}]`;
  }
  const kind: unknown = Object.getPrototypeOf(value);
  if (kind !== null && kind !== Object.prototype) {
    const name = (kind as { constructor?: { name?: string } }).constructor?.name;
    if (name !== "Object") throw new NotJson(at, `it is a ${name ?? "special object"}`);
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  // RFC 8785, 3.2.3: by UTF-16 code units, which is how `<` compares texts.
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  const written = members.map(([name, member]) => {
    const below = `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return `${text(name, below)}:${write(member, below, depth + 1)}`;
  });
  return `{${written.join(",")}}`;
}
