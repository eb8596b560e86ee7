// The value of a form: its initial value, its missing required values, and whether a form can show it.
//
// A field that is not filled in is `undefined`. Values are replaced, never mutated. Only own properties are read,
// because a member may be called `__proto__`.
import { type Data, isData } from "../payload";
import { member as at } from "../../../parts/later/errors";
import type { Field } from "./form";
import { ordered } from "./json";

/** Maximum number of groups that a form opens automatically. Further groups are added by a click. */
const GROUPS = 200;

export function memberOf(group: unknown, name: string): unknown {
  return isData(group) && Object.hasOwn(group, name) ? group[name] : undefined;
}

export function withMember(group: Data, name: string, value: unknown): Data {
  const entries = Object.entries(group).map(([each, old]) => [each, each === name ? value : old]);
  return Object.fromEntries(Object.hasOwn(group, name) ? entries : [...entries, [name, value]]);
}

/** Returns a deep copy. The copy of undefined is undefined. */
export function copied(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}

export function isSame(a: unknown, b: unknown): boolean {
  return ordered(a) === ordered(b);
}

/** Returns true if the form can show the complete value. Otherwise the value is edited as JSON. */
export function fits(field: Field, value: unknown): boolean {
  if (value === undefined) return true;
  switch (field.type) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number" && (!field.isWhole || Number.isInteger(value));
    case "switch":
      return typeof value === "boolean";
    case "choice":
      return field.values.some((each) => isSame(each, value));
    case "fixed":
      return isSame(field.value, value);
    case "list":
      return Array.isArray(value) && value.every((each) => fits(field.item(), each));
    case "tuple":
      return Array.isArray(value) && value.length === field.items().length && field.items().every((each, i) => fits(each, value[i]));
    case "record":
      return isData(value) && Object.values(value).every((each) => fits(field.item(), each));
    case "group":
      return (
        isData(value) &&
        Object.entries(value).every(([name, each]) => {
          const known = field.members().find((member) => member.name === name);
          return known !== undefined && fits(known.field, each);
        })
      );
    case "maybe":
      return value === null || fits(field.field, value);
    case "either":
      return field.ways.some((way) => fits(way.field, value));
    case "json":
      return true;
  }
}

/**
 * Returns the initial value of a field. It contains only defaults from the schema. Everything else is left for the
 * person to choose.
 */
export function blank(field: Field, left = { groups: GROUPS }): unknown {
  if (field.initial !== undefined) return copied(field.initial);
  switch (field.type) {
    case "fixed":
      return copied(field.value);
    case "tuple":
      return field.items().map((each) => blank(each, left));
    case "group":
      if (field.isAgain || (left.groups -= 1) < 0) return undefined;
      return opened(field, left);
    default:
      return undefined;
  }
}

/** Returns the initial value of a group that the person adds. */
export function opened(field: Extract<Field, { type: "group" }>, left = { groups: GROUPS }): Data {
  const begun = field.members().filter(({ isRequired, field }) => isRequired || field.initial !== undefined);
  return Object.fromEntries(begun.map(({ name, field }) => [name, blank(field, left)]));
}

/** Returns the initial value of a list entry or an alternative that the person added by a click. */
export function added(field: Field): unknown {
  return field.type === "group" && field.initial === undefined ? opened(field) : blank(field);
}

/** Restores a draft. In the stored JSON, null replaces undefined entries. */
export function restored(field: Field, value: unknown): unknown {
  if (field.type === "maybe") return value === null ? null : restored(field.field, value);
  if (field.type === "list" && Array.isArray(value)) return value.map((each) => (each === null ? undefined : restored(field.item(), each)));
  if (field.type === "tuple" && Array.isArray(value)) {
    return field.items().map((item, i) => (value[i] === null && item.type !== "fixed" ? undefined : restored(item, value[i])));
  }
  if (field.type === "group" && isData(value)) {
    const known = new Map(field.members().map((member) => [member.name, member.field]));
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, known.has(name) ? restored(known.get(name) as Field, each) : each]));
  }
  return value;
}

export interface Missing {
  pointer: string;
  name: string;
}

/**
 * Returns the missing required values. An empty text is treated as missing, unless `hasEmpty` permits an empty text as
 * a replacement.
 */
export function missing(field: Field, value: unknown, pointer: string, isRequired = true, hasEmpty = false, name = ""): Missing[] {
  const nothing = isRequired ? [{ pointer, name }] : [];
  if (value === undefined) return nothing;
  const below = (of: Field, each: unknown, key: string | number): Missing[] =>
    missing(of, each, at(pointer, key), true, hasEmpty, typeof key === "number" ? `${name} ${key + 1}`.trim() : key);
  switch (field.type) {
    case "text":
      return !hasEmpty && typeof value === "string" && value.trim() === "" ? nothing : [];
    case "list":
      return (value as unknown[]).flatMap((each, i) => below(field.item(), each, i));
    case "tuple":
      return field.items().flatMap((item, i) => below(item, (value as unknown[])[i], i));
    case "record":
      return Object.entries(value as Data).flatMap(([key, each]) => below(field.item(), each, key));
    case "group":
      return field
        .members()
        .flatMap((each) => missing(each.field, memberOf(value, each.name), at(pointer, each.name), each.isRequired, hasEmpty, each.label));
    case "maybe":
      return value === null ? [] : missing(field.field, value, pointer, isRequired, hasEmpty, name);
    case "either": {
      const way = field.ways[wayOf(field, value)];
      return way ? missing(way.field, value, pointer, isRequired, hasEmpty, name) : nothing;
    }
    default:
      return [];
  }
}

/**
 * Returns the index of the alternative that can show the value and has the fewest missing members. Returns -1 if no
 * alternative can show the value.
 */
export function wayOf(field: Extract<Field, { type: "either" }>, value: unknown): number {
  if (value === undefined) return -1;
  const lacks = field.ways.map((way) => (fits(way.field, value) ? missing(way.field, value, "").length : Infinity));
  const least = Math.min(...lacks);
  return least === Infinity ? -1 : lacks.indexOf(least);
}
