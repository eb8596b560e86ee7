// The words of the app, by key. One file per language; `t` fills in what a text leaves open as `{name}`.
import { en } from "./en";
import type { also } from "./en-also";
import type { earlier } from "./en-earlier";
import type { later } from "./en-later";
import type { people } from "./en-people";
import type { plan } from "./en-plan";
import type { session } from "./en-session";
import type { system } from "./en-system";
import type { trial } from "./en-trial";
import type { voice } from "./en-voice";

export type Key = keyof typeof en | keyof typeof also | keyof typeof earlier | keyof typeof later | keyof typeof people | keyof typeof plan | keyof typeof session | keyof typeof system | keyof typeof trial | keyof typeof voice;
export type Texts = Record<Key, string>;

const texts = { ...en } as Texts;

/** Words of a place that is fetched later: they come with it. */
export function add(more: Partial<Texts>): void {
  Object.assign(texts, more);
}

export function t(key: Key, values: Record<string, string | number> = {}): string {
  return texts[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** The text of a key that is put together at run time, such as `kind.question`; what the server sent where there is none. */
export function word(group: string, name: string): string {
  return texts[`${group}.${name}` as Key] ?? name.replaceAll("_", " ");
}

/** One or many: `key.one` or `key.other`. */
export function count(key: "inbox.waiting" | "inbox.arrived" | "run.open", n: number): string {
  return t(n === 1 ? `${key}.one` : `${key}.other`, { n });
}
