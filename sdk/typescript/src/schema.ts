// Schemas of answers: JSON Schema as it is, or zod and other libraries that implement Standard Schema.

import { jsonCopy } from "./canonical.js";
import { InvalidAnswer, NotConfigured } from "./errors.js";

/** JSON Schema (2020-12, 2019-09 or draft-07). */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Schema of zod 4, or of another library with Standard Schema (https://standardschema.dev). */
export interface StandardSchema<Output> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?: { readonly input: (options: { target: "draft-2020-12" }) => Record<string, unknown> };
  };
}

type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

export type Schema<Output> = StandardSchema<Output> | JsonSchema;

function isStandard<Output>(schema: Schema<Output>): schema is StandardSchema<Output> {
  return "~standard" in schema;
}

/** Returns the JSON Schema to send to the server. */
export async function toJsonSchema(schema: Schema<unknown>): Promise<JsonSchema> {
  if (!isStandard(schema)) return jsonCopy(schema);
  const standard = schema["~standard"];
  if (standard.jsonSchema !== undefined) return jsonCopy(standard.jsonSchema.input({ target: "draft-2020-12" }));
  if (standard.vendor === "zod") {
    const zod = await import("zod");
    return jsonCopy({ ...zod.toJSONSchema(schema as never, { io: "input" }) });
  }
  throw new NotConfigured(`a schema of ${standard.vendor} has no JSON Schema: pass a JSON Schema instead`);
}

/** Returns the value as the schema's library reads it. The server has already checked it by the JSON Schema. */
export async function validate<Output>(schema: Schema<Output>, value: unknown, link: string): Promise<Output> {
  if (!isStandard(schema)) return value as Output;
  const result = await schema["~standard"].validate(value);
  if (result.issues) throw new InvalidAnswer(value, result.issues, link);
  return result.value;
}
