// A JSON Schema as a form: fields that can be drawn. What a form can not show is edited as JSON.
import { data, isData, list, texts } from "../payload";

export type Field =
  | { type: "text" }
  | { type: "number"; isWhole: boolean; least?: number; most?: number }
  | { type: "switch" }
  | { type: "choice"; values: string[] }
  | { type: "list"; item: Field }
  | { type: "group"; members: Member[] };

export interface Member {
  name: string;
  field: Field;
  isRequired: boolean;
  help: string;
}

const DEEPEST = 6;
/** Words that give a value more shapes than one field has. */
const COMPOSED = ["oneOf", "anyOf", "allOf", "not", "if", "const", "prefixItems", "patternProperties", "$ref"];

/** The schema behind references within the whole one, with what stands beside them; a longer way is none. */
function followed(schema: unknown, root: unknown): unknown {
  let found = schema;
  for (let steps = 0; steps < DEEPEST && isData(found) && typeof found.$ref === "string"; steps += 1) {
    const { $ref, ...beside } = found;
    if (!$ref.startsWith("#")) return found;
    const names = $ref.split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
    const target = names.reduce<unknown>((at, name) => (isData(at) && Object.hasOwn(at, name) ? at[name] : undefined), root);
    if (!isData(target)) return found;
    found = { ...target, ...beside };
  }
  return found;
}

/** `X` of "`X` or null", as optional members are written: what is left out needs no null. */
function present(schema: unknown): unknown {
  const either = isData(schema) && list(schema.anyOf);
  if (!either || either.length !== 2) return schema;
  const some = either.filter((each) => !(isData(each) && each.type === "null"));
  return some.length === 1 ? some[0] : schema;
}

/** The field of a schema; none where the form could not say all that the schema does. */
export function field(written: unknown, root: unknown = written, depth = 0): Field | undefined {
  const schema = followed(written, root);
  if (!isData(schema) || depth > DEEPEST || COMPOSED.some((key) => key in schema)) return undefined;
  if ("enum" in schema) {
    const values = texts(schema.enum);
    return values.length === list(schema.enum).length ? { type: "choice", values } : undefined;
  }
  switch (schema.type) {
    case "string":
      return { type: "text" };
    case "number":
    case "integer":
      return { type: "number", isWhole: schema.type === "integer", least: number(schema.minimum), most: number(schema.maximum) };
    case "boolean":
      return { type: "switch" };
    case "array": {
      const item = field(schema.items, root, depth + 1);
      return item && { type: "list", item };
    }
    case "object":
      return group(schema, root, depth);
    default:
      return undefined;
  }
}

function group(schema: Record<string, unknown>, root: unknown, depth: number): Field | undefined {
  const properties = Object.entries(data(schema.properties));
  // An object of any members has no form.
  if (properties.length === 0) return undefined;
  const required = texts(schema.required);
  const members: Member[] = [];
  for (const [name, each] of properties) {
    const isRequired = required.includes(name);
    const drawn = field(isRequired ? each : present(each), root, depth + 1);
    if (!drawn) return undefined;
    const help = data(each).description;
    members.push({ name, field: drawn, isRequired, help: typeof help === "string" ? help : "" });
  }
  // The list of what is required is in the order that its author meant; members of an object have none.
  const place = (member: Member): number => (member.isRequired ? required.indexOf(member.name) : required.length);
  members.sort((a, b) => place(a) - place(b));
  return { type: "group", members };
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Whether the form shows all of a value: what it would hide is edited as JSON. */
export function fits(field: Field, value: unknown): boolean {
  switch (field.type) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "switch":
      return typeof value === "boolean";
    case "choice":
      return typeof value === "string" && field.values.includes(value);
    case "list":
      return Array.isArray(value) && value.every((item) => fits(field.item, item));
    case "group":
      return (
        isData(value) &&
        Object.entries(value).every(([name, each]) => {
          const member = field.members.find((member) => member.name === name);
          return member !== undefined && (each === undefined || fits(member.field, each));
        })
      );
  }
}

/** A new one, with what is required. */
export function blank(field: Field): unknown {
  switch (field.type) {
    case "text":
      return "";
    case "number":
      return undefined;
    case "switch":
      return false;
    case "choice":
      return field.values[0];
    case "list":
      return [];
    case "group":
      return Object.fromEntries(
        field.members.filter((member) => member.isRequired).map((member) => [member.name, blank(member.field)]),
      );
  }
}
