// The texts of the app, by key. English is split into files by subject. `t` fills in placeholders such as `{name}`.
import { en } from "./en";
import type { app } from "./en-app";
import type { card } from "./en-card";
import type { grants } from "./en-grants";
import type { people } from "./en-people";
import type { plan } from "./en-plan";
import type { run } from "./en-run";
import type { session } from "./en-session";
import type { system } from "./en-system";
import type { timeline } from "./en-timeline";
import type { trial } from "./en-trial";
import type { voice } from "./en-voice";

export type Key = keyof typeof en | keyof typeof app | keyof typeof card | keyof typeof grants | keyof typeof people | keyof typeof plan | keyof typeof run | keyof typeof session | keyof typeof system | keyof typeof timeline | keyof typeof trial | keyof typeof voice;
export type Texts = Record<Key, string>;

const texts = { ...en } as Texts;

/** Adds the texts of a view that loads later. The module of the view calls this function. */
export function add(more: Partial<Texts>): void {
  Object.assign(texts, more);
}

export function t(key: Key, values: Record<string, string | number> = {}): string {
  return texts[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/**
 * Returns the text for a key that is built at run time, such as `kind.question`. If there is no text, returns the
 * server's value.
 */
export function word(group: string, name: string): string {
  return texts[`${group}.${name}` as Key] ?? name.replaceAll("_", " ");
}

/** Returns the singular or plural text: `key.one` or `key.other`. */
export function count(key: "inbox.waiting" | "inbox.arrived" | "run.open", n: number): string {
  return t(n === 1 ? `${key}.one` : `${key}.other`, { n });
}
