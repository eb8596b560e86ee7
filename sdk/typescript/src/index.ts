// Asks people for approvals and answers, through a Holdshort server.
//
// The functions use the environment: `HOLDSHORT_URL`, and `HOLDSHORT_AGENT_TOKEN` or `HOLDSHORT_AGENT_TOKEN_FILE`.
// Create a {@link Holdshort} for other settings.

import type { Approval } from "./approval.js";
import { type ApproveOptions, type AskOptions, Holdshort } from "./client.js";
import type { RequireOptions, Wrapped } from "./require-approval.js";
import type { JsonSchema, Schema, StandardSchema } from "./schema.js";

export type { Approval } from "./approval.js";
export { canonicalJson, digest } from "./canonical.js";
export { type ApproveOptions, type AskOptions, Holdshort, type WaitOptions } from "./client.js";
export * from "./errors.js";
export { idempotencyKey } from "./key.js";
export { currentApproval, type Reason, type RequireOptions } from "./require-approval.js";
export type { JsonSchema, Schema, StandardSchema } from "./schema.js";
export type { Settings } from "./settings.js";

let shared: Holdshort | undefined;

/** Returns the client with the settings of the environment. */
export function holdshort(): Holdshort {
  shared ??= new Holdshort();
  return shared;
}

/** See {@link Holdshort.ask}. */
export function ask(question: string, options?: AskOptions): Promise<string>;
export function ask<Output>(
  question: string,
  options: AskOptions & { schema: StandardSchema<Output> },
): Promise<Output>;
export function ask<Output = unknown>(question: string, options: AskOptions & { schema: JsonSchema }): Promise<Output>;
export async function ask(question: string, options?: AskOptions & { schema?: Schema<unknown> }): Promise<unknown> {
  return holdshort().ask(question, options as AskOptions);
}

/** See {@link Holdshort.approve}. */
export async function approve<Arguments extends object>(
  tool: string,
  args: Arguments,
  options?: ApproveOptions<Arguments>,
): Promise<Approval<Arguments>> {
  return holdshort().approve(tool, args, options);
}

/** See {@link Holdshort.requireApproval}. */
export function requireApproval<Arguments extends object, Rest extends unknown[], Result>(
  tool: (args: Arguments, ...rest: Rest) => Result,
  options: RequireOptions<Arguments, Rest, Awaited<Result>> = {},
): Wrapped<Arguments, Rest, Result> {
  // The client is created at the first call, when the environment is complete.
  const name = options.tool ?? tool.name;
  let wrapped: Wrapped<Arguments, Rest, Result> | undefined;
  return (args, ...rest) => {
    wrapped ??= holdshort().requireApproval(tool, { ...options, tool: name });
    return wrapped(args, ...rest);
  };
}

/** See {@link Holdshort.withdraw}. */
export async function withdraw(id: string, reason?: string): Promise<void> {
  await holdshort().withdraw(id, reason);
}
