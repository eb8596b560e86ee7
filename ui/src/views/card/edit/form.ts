// Maps a JSON Schema to a form with one field per value. A value that no field can edit gets a JSON box.
import { type Data, data, isData, list, text, texts } from "../payload";
import { word } from "../../texts";
import { flat } from "./schema";
import { fits } from "./value";

export type Shape =
  | { type: "text"; format?: string }
  | { type: "number"; isWhole: boolean; least?: number; most?: number }
  | { type: "switch" }
  | { type: "choice"; values: unknown[] }
  /** A field with a single allowed value. */
  | { type: "fixed"; value: unknown }
  | { type: "list"; item: () => Field; least: number }
  | { type: "tuple"; items: () => Field[] }
  /** An object whose member names the person chooses. */
  | { type: "record"; item: () => Field; least: number }
  | { type: "group"; members: () => Member[] }
  /** A field that also allows null. */
  | { type: "maybe"; field: Field }
  | { type: "either"; ways: Way[] }
  | { type: "json" };

export type Field = Shape & {
  title?: string;
  help?: string;
  /** The default from the schema. */
  initial?: unknown;
  /**
   * True if this field is inside a field of the same recursive type. The field is shown only after the person adds it.
   */
  isAgain?: boolean;
};

export interface Member {
  name: string;
  label: string;
  field: Field;
  isRequired: boolean;
}

export interface Way {
  label: string;
  field: Field;
}

/** Maximum depth of nested references. Values at a greater depth get a JSON box. */
const DEEPEST = 16;
/** In a path of references, separates the references of a value from the references of the values inside it. */
const BELOW = "/";
/** Schema keywords that no field supports. */
const UNDRAWN = ["if", "patternProperties", "dependentSchemas", "dependencies", "$dynamicRef", "$recursiveRef"];

const JSON_BOX: Shape = { type: "json" };

/**
 * Returns a function that calls `make` at its first use and then returns the same value. This allows recursive types.
 */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Returns the field of a schema. `path` contains the references that led to the schema. */
export function field(written: unknown, root: unknown = written, path: readonly string[] = ["#"]): Field {
  const found = flat(written, root);
  if (!found) return JSON_BOX;
  const { schema, refs } = found;
  const here = path.slice(path.lastIndexOf(BELOW) + 1);
  const isEndless = refs.some((ref) => here.includes(ref));
  const isDeep = path.filter((ref) => ref !== BELOW).length > DEEPEST;
  const drawn: Field = isEndless || isDeep ? { ...JSON_BOX } : { ...shape(schema, root, [...path, ...refs]) };
  drawn.title = text(schema, "title")?.trim() || drawn.title;
  drawn.help = text(schema, "description")?.trim() || drawn.help;
  if (refs.some((ref) => path.includes(ref))) drawn.isAgain = true;
  if ("default" in schema && fits(drawn, schema.default)) drawn.initial = schema.default;
  return drawn;
}

function shape(schema: Data, root: unknown, path: readonly string[]): Shape {
  if (UNDRAWN.some((key) => key in schema)) return JSON_BOX;
  if ("const" in schema) return { type: "fixed", value: schema.const };
  if (Array.isArray(schema.enum)) return { type: "choice", values: schema.enum };
  const { anyOf, oneOf, type, ...rest } = schema;
  const ways = list(anyOf ?? oneOf);
  if (ways.length > 0) return anyOf && oneOf ? JSON_BOX : either(ways, { ...rest, type }, root, path);
  if (Array.isArray(type)) return either(type.map((each) => ({ ...rest, type: each })), {}, root, path);
  const below = [...path, BELOW];
  switch (type ?? inferred(schema)) {
    case "string":
      return { type: "text", format: text(schema, "format") };
    case "number":
    case "integer":
      return { type: "number", isWhole: type === "integer", least: number(schema.minimum), most: number(schema.maximum) };
    case "boolean":
      return { type: "switch" };
    case "null":
      return { type: "fixed", value: null };
    case "array":
      return array(schema, root, below);
    case "object":
      return object(schema, root, below);
    default:
      return JSON_BOX;
  }
}

/** Returns the type of a schema without the keyword `type`. */
function inferred(schema: Data): string | undefined {
  if ("properties" in schema) return "object";
  return "prefixItems" in schema ? "array" : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Keywords next to `anyOf` or `oneOf` that apply to each alternative. */
const SHARED = ["type", "properties", "required", "additionalProperties", "items"];

function either(ways: unknown[], beside: Data, root: unknown, path: readonly string[]): Shape {
  const shared = Object.fromEntries(SHARED.filter((key) => beside[key] !== undefined).map((key) => [key, beside[key]]));
  const isShared = Object.keys(shared).length > 0;
  const drawn = ways.map((way) => field(isShared ? { allOf: [shared, way] } : way, root, path));
  const some = drawn.filter((each) => !(each.type === "fixed" && each.value === null));
  const one = some.length === 0 ? { type: "fixed" as const, value: null } : chosen(some, beside);
  // A choice lists null as one of its values.
  if (some.length === drawn.length || some.length === 0) return one;
  return { type: "maybe", field: one };
}

function chosen(some: Field[], beside: Data): Field {
  if (some.length === 1 && some[0]) return some[0];
  const values = some.flatMap((each) => (each.type === "choice" ? each.values : each.type === "fixed" ? [each.value] : []));
  if (some.every((each) => each.type === "choice" || each.type === "fixed")) return { type: "choice", values };
  const told = text(data(beside.discriminator), "propertyName");
  const labels = some.map((each) => each.title || constant(each, told) || named(each));
  const isTwice = (label: string): boolean => labels.indexOf(label) !== labels.lastIndexOf(label);
  return {
    type: "either",
    ways: some.map((each, at) => ({ field: each, label: isTwice(labels[at] ?? "") ? `${labels[at]} ${at + 1}` : (labels[at] ?? "") })),
  };
}

/**
 * Returns the value that distinguishes a group from its alternatives: the value of the discriminator member, otherwise
 * the value of the first fixed member.
 */
function constant(of: Field, told: string | undefined): string | undefined {
  if (of.type !== "group") return undefined;
  const fixed = of.members().filter(({ field }) => field.type === "fixed");
  const found = (fixed.find(({ name }) => name === told) ?? fixed[0])?.field;
  return found?.type === "fixed" ? shown(found.value) : undefined;
}

function named(of: Field): string {
  if (of.type === "fixed") return shown(of.value);
  if (of.type === "text" && of.format) return of.format;
  return word("card.edit.type", of.type === "number" && of.isWhole ? "whole" : of.type);
}

/** Returns the readable form of a choice's value. */
export function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function array(schema: Data, root: unknown, path: readonly string[]): Shape {
  // In JSON Schema draft 7, `items` may be a list of schemas.
  const items = Array.isArray(schema.items) ? schema.items : schema.prefixItems;
  if (Array.isArray(items)) return { type: "tuple", items: once(() => items.map((each) => field(each, root, path))) };
  return { type: "list", item: once(() => field(schema.items ?? true, root, path)), least: number(schema.minItems) ?? 0 };
}

function object(schema: Data, root: unknown, path: readonly string[]): Shape {
  const others = schema.additionalProperties;
  let properties = Object.entries(data(schema.properties));
  if (properties.length === 0 && isData(others)) {
    // A record whose names are listed in the schema has one field per name.
    const names = texts(flat(schema.propertyNames ?? true, root)?.schema.enum);
    if (names.length === 0) return { type: "record", item: once(() => field(others, root, path)), least: number(schema.minProperties) ?? 0 };
    properties = names.map((name) => [name, others]);
  }
  // An object with arbitrary members cannot be edited as a form.
  if (properties.length === 0) return others === false ? { type: "fixed", value: {} } : JSON_BOX;
  const required = texts(schema.required);
  return {
    type: "group",
    members: once(() => {
      const members = properties.map(([name, each]) => member(name, each, required.includes(name), root, path));
      // Required members follow the order of the `required` list, because the members of a JSON object are not ordered.
      const place = (of: Member): number => (of.isRequired ? required.indexOf(of.name) : required.length);
      return members.sort((a, b) => place(a) - place(b));
    }),
  };
}

function member(name: string, written: unknown, isRequired: boolean, root: unknown, path: readonly string[]): Member {
  let drawn = field(written, root, path);
  if (!isRequired) {
    // An optional member can be omitted, so it does not need null.
    const { initial } = drawn;
    if (initial === null) delete drawn.initial;
    if (drawn.type === "maybe" && (initial === null || initial === undefined)) drawn = { ...drawn.field, help: drawn.help || drawn.field.help };
    if (drawn.type === "fixed" && drawn.initial === undefined) drawn = { ...drawn, type: "choice", values: [drawn.value] };
  }
  // A title behind a reference is the title of the type, not of the member.
  return { name, label: text(data(written), "title")?.trim() || name.replaceAll("_", " "), field: drawn, isRequired };
}
