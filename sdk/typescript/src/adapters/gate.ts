// Code that all adapters share: which calls need approval, one decision for each call, and its use

import type { Approval } from "../approval.js";
import { Holdshort, type WaitOptions } from "../client.js";
import { ApprovalRequired, ApprovalUsed, NotGranted, Responded, WaitTimeout } from "../errors.js";
import { type Reason, runUnder } from "../require-approval.js";
import type { Schema } from "../schema.js";
import type { AskFields } from "../wire.js";

/** Arguments have the type of the tool, which the adapters do not know. */
type Args = any;

/** Predicate of a tool: the reason why a call needs approval, or true. */
export type When = Reason | ((args: Args) => Reason | Promise<Reason>);

export interface GateOptions extends AskFields, Pick<WaitOptions, "signal" | "onAsked"> {
  /** Id of the conversation in your storage. With the id of a call, it is the idempotency key of the request. */
  conversation: string;
  /**
   * Predicates by the name of the tool: a reason, true, false, or a function of the arguments that returns one of
   * these. A tool without a predicate needs approval.
   */
  when?: Record<string, When>;
  /** Client to use. Defaults to one with the settings of the environment. */
  client?: Holdshort;
  /** Further data for the card of a call. */
  details?: (call: { tool: string; args: Args }) => Record<string, unknown> | undefined;
  /** Returns the result of a call that an earlier process has started. Without it, the call fails. */
  onUsed?: (call: { tool: string; args: Args }) => unknown;
}

/** Call of a tool, as a framework reports it. */
export interface ToolCall {
  /** Id that the model gave the call. */
  readonly id: string;
  readonly tool: string;
  readonly args: object;
}

export type Verdict =
  | { readonly kind: "free" }
  | { readonly kind: "approved"; readonly approval: Approval }
  | { readonly kind: "responded"; readonly text: string }
  | { readonly kind: "denied"; readonly reason: string }
  | { readonly kind: "open" };

export class Gate {
  readonly #framework: string;
  readonly #options: GateOptions;
  readonly #schemas: Map<string, Schema<object>>;
  readonly #client: Holdshort;
  /** Verdicts of calls that have not run yet, by the id of the call. */
  readonly #verdicts = new Map<string, Promise<Verdict>>();

  constructor(framework: string, options: GateOptions, schemas: Map<string, Schema<object>>) {
    this.#framework = framework;
    this.#options = options;
    this.#schemas = schemas;
    this.#client = options.client ?? new Holdshort();
  }

  /** Asks about a call, and waits for the decision. Repeated calls return the same decision. */
  decide(call: ToolCall): Promise<Verdict> {
    const known = this.#verdicts.get(call.id);
    if (known !== undefined) return known;
    const verdict = this.#verdict(call, undefined);
    this.#verdicts.set(call.id, verdict);
    verdict.catch(() => this.#verdicts.delete(call.id));
    return verdict;
  }

  /** Returns the reason why the call needs approval, true, or something falsy. */
  async required(call: Pick<ToolCall, "tool" | "args">): Promise<Reason> {
    const when = this.#options.when;
    const predicate = when && Object.hasOwn(when, call.tool) ? when[call.tool] : true;
    return typeof predicate === "function" ? predicate(call.args) : predicate;
  }

  /** Asks about a call without waiting. The verdict is `open` until a person decides. */
  async peek(call: ToolCall): Promise<Verdict> {
    return (await this.#verdicts.get(call.id)) ?? this.#verdict(call, 0);
  }

  /** Runs a tool if its call is approved, with the approved arguments. */
  async run(call: ToolCall, tool: (args: Args) => unknown, said: (verdict: Verdict) => void): Promise<unknown> {
    const verdict = await this.decide(call).finally(() => this.#verdicts.delete(call.id));
    said(verdict);
    switch (verdict.kind) {
      case "free":
        return this.#runFree(call, tool);
      case "responded":
        return verdict.text;
      case "approved":
        return this.#use(call, verdict.approval, tool);
      case "denied":
        // The model reads the reason in place of a result.
        return verdict.reason;
      case "open":
        throw new Error(`the call ${call.id} of ${call.tool} waits for a decision`);
    }
  }

  async #runFree(call: ToolCall, tool: (args: Args) => unknown): Promise<unknown> {
    try {
      return await tool(call.args);
    } catch (error) {
      if (!(error instanceof ApprovalRequired)) throw error;
      const approval = await this.#approve(call, error.reason, error.details, undefined);
      return this.#use(call, approval, tool);
    }
  }

  async #use(call: ToolCall, approval: Approval, tool: (args: Args) => unknown): Promise<unknown> {
    try {
      await approval.use();
    } catch (error) {
      const { onUsed } = this.#options;
      if (error instanceof ApprovalUsed && onUsed) return onUsed({ tool: call.tool, args: approval.arguments });
      throw error;
    }
    return runUnder(approval, () => tool(approval.arguments));
  }

  async #verdict(call: ToolCall, timeoutMs: number | undefined): Promise<Verdict> {
    const reason = await this.required(call);
    if (!reason) return { kind: "free" };
    try {
      const approval = await this.#approve(call, typeof reason === "string" ? reason : "", undefined, timeoutMs);
      return { kind: "approved", approval };
    } catch (error) {
      if (error instanceof Responded) return { kind: "responded", text: error.result };
      if (error instanceof NotGranted) return { kind: "denied", reason: error.message };
      if (error instanceof WaitTimeout) return { kind: "open" };
      throw error;
    }
  }

  async #approve(
    call: ToolCall,
    reason: string,
    more: Record<string, unknown> | undefined,
    timeoutMs: number | undefined,
  ): Promise<Approval> {
    const { conversation, details, when: _when, client: _client, onUsed: _used, ...fields } = this.#options;
    const schema = this.#schemas.get(call.tool);
    const shown = { ...details?.({ tool: call.tool, args: call.args }), ...more };
    return this.#client.approve(call.tool, call.args, {
      ...fields,
      key: [this.#framework, conversation, call.id],
      use: false,
      respondable: true,
      ...(reason ? { reason } : {}),
      ...(schema ? { schema } : {}),
      ...(Object.keys(shown).length > 0 ? { details: shown } : {}),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  }
}

/** Returns the note for the model about an approval that changed the call or has words. */
export function noteFor(verdict: Verdict): string | undefined {
  if (verdict.kind === "responded") return "A person provided this result. The tool did not run.";
  if (verdict.kind !== "approved") return undefined;
  const { edited, words, arguments: args } = verdict.approval;
  const notes: string[] = [];
  if (edited) notes.push(`A person changed the arguments before the tool ran: ${JSON.stringify(args)}`);
  if (words) notes.push(`The person who approved the call says: ${words}`);
  return notes.length > 0 ? notes.join("\n") : undefined;
}

/** Returns the schema of a tool's arguments if the SDK can read it. */
export function editSchema(schema: unknown): Schema<object> | undefined {
  return (typeof schema === "object" || typeof schema === "function") && schema !== null
    ? (schema as Schema<object>)
    : undefined;
}
