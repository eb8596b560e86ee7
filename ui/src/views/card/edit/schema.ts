// Flattens a JSON Schema in the form that libraries generate: resolves `$ref` and merges `allOf` into one schema.
import { type Data, data, isData, list, texts } from "../payload";

/** Maximum number of chained schemas that describe one value. The server accepts no longer chain. */
const CHAIN = 32;

export interface Flat {
  schema: Data;
  /** The references that were followed. */
  refs: string[];
}

function decoded(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    return reference;
  }
}

/**
 * Returns the target of a reference inside the root schema. A reference is a JSON pointer, percent-encoded as a URI
 * fragment.
 */
function target(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return undefined;
  const names = decoded(reference.slice(1)).split("/").slice(1);
  return names
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((at, name) => (typeof at === "object" && at !== null && Object.hasOwn(at, name) ? (at as Data)[name] : undefined), root);
}

/** Returns one schema without `$ref` and `allOf`. Undefined if the schemas cannot be merged. */
export function flat(written: unknown, root: unknown, steps = 0): Flat | undefined {
  if (written === true) return { schema: {}, refs: [] };
  if (!isData(written) || steps > CHAIN) return undefined;
  const { $ref, allOf, ...own } = written;
  let found: Flat | undefined = { schema: own, refs: [] };
  const parts = list(allOf);
  if ($ref !== undefined) {
    if (typeof $ref !== "string") return undefined;
    parts.unshift(target($ref, root));
    found.refs.push($ref);
  }
  for (const part of parts) {
    const below = flat(part, root, steps + 1);
    found = below && found && joined(below, found);
  }
  return found;
}

/** Merges two schemas. The keywords next to a reference override the keywords of its target. */
function joined(below: Flat, above: Flat): Flat | undefined {
  const [a, b] = [below.schema, above.schema];
  if (["anyOf", "oneOf", "enum", "const"].some((key) => key in a && key in b)) return undefined;
  const schema: Data = { ...a, ...b };
  if ("properties" in a && "properties" in b) {
    const known = data(a.properties);
    const more = Object.entries(data(b.properties)).map(([name, each]) => [name, Object.hasOwn(known, name) ? { allOf: [known[name], each] } : each]);
    schema.properties = Object.fromEntries([...Object.entries(known), ...more]);
  }
  if ("required" in a && "required" in b) schema.required = [...new Set([...texts(a.required), ...texts(b.required)])];
  if (a.type === "integer" && b.type === "number") schema.type = a.type;
  return { schema, refs: [...below.refs, ...above.refs] };
}
