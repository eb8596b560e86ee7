// Reads payloads of interrupts. An agent may have written the payload, so no shape is assumed.
import type { Carded } from "../../api/types";

export type Data = Record<string, unknown>;

export function isData(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the members of an object. Empty for any other value. */
export function data(value: unknown): Data {
  return isData(value) ? value : {};
}

export function text(from: Data, key: string): string | undefined {
  const value = from[key];
  return typeof value === "string" ? value : undefined;
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function texts(value: unknown): string[] {
  return list(value).filter((item) => typeof item === "string");
}

/** Returns a text unchanged, and other data as JSON. */
export function readable(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}

export function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === "" || (isData(value) && Object.keys(value).length === 0);
}

/** Returns true if an edit of the interrupt is an answer, which replaces nothing. */
export function asksForAnswer(interrupt: Carded): boolean {
  return interrupt.card.replaces == null;
}

/** Returns the current value that an edit replaces. Undefined for an answer. */
export function editable(interrupt: Carded): unknown {
  const [, , member] = interrupt.card.replaces?.split("/") ?? [];
  if (asksForAnswer(interrupt)) return undefined;
  return (member === undefined ? interrupt.payload : data(interrupt.payload)[member]) ?? null;
}
