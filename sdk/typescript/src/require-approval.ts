// Functions that run only after an approval.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Approval } from "./approval.js";
import type { ApproveOptions, Holdshort, WaitOptions } from "./client.js";
import { ApprovalRequired, ApprovalUsed, NotConfigured, Responded } from "./errors.js";

/** Result of a predicate: the reason why approval is required, or true. Anything falsy requires no approval. */
export type Reason = string | boolean | undefined | null;

export interface RequireOptions<Arguments extends object, Rest extends unknown[], Result> extends Omit<
  ApproveOptions<Arguments>,
  "key" | "use" | "reason" | "respondable"
> {
  /** Name of the tool on the card and in rules. Defaults to the name of the function. */
  tool?: string;
  /** Returns the reason why a call needs approval. Without it, every call does. */
  when?: (args: Arguments, ...rest: Rest) => Reason | Promise<Reason>;
  /** Idempotency key of a call. */
  key?: WaitOptions["key"] | ((args: Arguments, ...rest: Rest) => NonNullable<WaitOptions["key"]>);
  /** Returns the result if an earlier process used the approval. Without it, `ApprovalUsed` is thrown. */
  onUsed?: (error: ApprovalUsed, args: Arguments) => Result | Promise<Result>;
  /** Returns the result if a person provides it. Without it, the card does not offer this. */
  onResponded?: (text: string) => Result | Promise<Result>;
}

export type Wrapped<Arguments extends object, Rest extends unknown[], Result> = (
  args: Arguments,
  ...rest: Rest
) => Promise<Awaited<Result>>;

const running = new AsyncLocalStorage<Approval>();

/** Returns the approval under which the present function runs. */
export function currentApproval(): Approval | undefined {
  return running.getStore();
}

/** Runs a function under an approval that was used. */
export function runUnder<Result>(approval: Approval, run: () => Result): Result {
  return running.run(approval, run);
}

/** See {@link Holdshort.requireApproval}. */
export function wrap<Arguments extends object, Rest extends unknown[], Result>(
  client: Holdshort,
  tool: (args: Arguments, ...rest: Rest) => Result,
  options: RequireOptions<Arguments, Rest, Awaited<Result>>,
): Wrapped<Arguments, Rest, Result> {
  const { tool: name = tool.name, when, key, onUsed, onResponded, ...fields } = options;
  if (name === "") throw new NotConfigured("the function has no name: pass `tool`");
  return async (args, ...rest): Promise<Awaited<Result>> => {
    const approveAndRun = async (reason: string, details?: Record<string, unknown>): Promise<Awaited<Result>> => {
      const callKey = typeof key === "function" ? key(args, ...rest) : key;
      let approval: Approval<Arguments>;
      try {
        approval = await client.approve(name, args, {
          ...fields,
          ...(callKey === undefined ? {} : { key: callKey }),
          ...(reason ? { reason } : {}),
          ...(details ? { details: { ...fields.details, ...details } } : {}),
          respondable: onResponded !== undefined,
        });
      } catch (error) {
        if (error instanceof ApprovalUsed && onUsed) return await onUsed(error, args);
        if (error instanceof Responded && onResponded) return await onResponded(error.result);
        throw error;
      }
      return await runUnder(approval, () => tool(approval.arguments, ...rest));
    };
    const reason = when ? await when(args, ...rest) : true;
    if (reason) return approveAndRun(typeof reason === "string" ? reason : "");
    try {
      return await tool(args, ...rest);
    } catch (error) {
      if (error instanceof ApprovalRequired) return approveAndRun(error.reason, error.details);
      throw error;
    }
  };
}
