// Adapter for Mastra 1 (`@mastra/core`): tools that run only approved calls, and the continuation of suspended runs.

import type { Schema } from "../schema.js";
import { editSchema, Gate, type GateOptions, noteFor, type ToolCall } from "./gate.js";

export interface MastraOptions extends GateOptions {
  /**
   * True to suspend the run while a call waits, as with `requireApproval` of Mastra, which needs a storage. Continue it
   * with `finish(agent, result)`, in a new process with `resume(agent, {threadId})`. Without it, the tool waits.
   */
  deferred?: boolean;
}

/** Result of `agent.generate`, as far as the adapter reads it. */
interface Result {
  finishReason?: string | undefined;
  runId?: string | undefined;
  suspendPayload?: unknown;
}

/** Agent of Mastra, as far as the adapter uses it. */
interface MastraAgent<R> {
  approveToolCallGenerate(options: { runId: string; toolCallId: string }): Promise<R>;
  declineToolCallGenerate(options: { runId: string; toolCallId: string; reason: string }): Promise<R>;
  listSuspendedRuns(options: { threadId?: string; resourceId?: string }): Promise<{ runs: SuspendedRun[] }>;
}

interface SuspendedRun {
  runId: string;
  toolCalls: { toolCallId?: string; toolName?: string; args?: unknown; requiresApproval: boolean }[];
}

/** Tool of Mastra, as far as the adapter reads it. */
interface MastraTool {
  inputSchema?: unknown;
  execute?: (input: unknown, context: ToolContext) => unknown;
}

interface ToolContext {
  agent?: { toolCallId?: string };
}

/** Returns the tools for an agent. */
export function gateTools<Tools extends Record<string, object>>(
  tools: Tools,
  options: MastraOptions,
): MastraGate<Tools> {
  return new MastraGate(tools, options);
}

export class MastraGate<Tools extends Record<string, object>> {
  readonly tools: Tools;
  readonly #gate: Gate;

  constructor(tools: Tools, { deferred = false, ...options }: MastraOptions) {
    const gate = new Gate("mastra", options, schemas(tools));
    this.#gate = gate;
    this.tools = Object.fromEntries(
      Object.entries(tools).map(([name, tool]) => [name, gated(gate, name, tool as MastraTool, deferred)]),
    ) as Tools;
  }

  /** Waits for the decisions on the calls that suspend the run, continues it, and returns its final result. */
  async finish<R extends Result>(agent: object, result: R): Promise<R> {
    let last = result;
    for (let call = suspended(last); call !== undefined; call = suspended(last)) {
      last = await this.#continue(agent as MastraAgent<R>, last.runId ?? "", call);
    }
    return last;
  }

  /** Continues the runs of a thread that an earlier process has left suspended. Returns their final results. */
  async resume<R extends Result>(agent: object, thread: { threadId?: string; resourceId?: string }): Promise<R[]> {
    const { runs } = await (agent as MastraAgent<R>).listSuspendedRuns(thread);
    const results = runs.map(async ({ runId, toolCalls }) => {
      const waiting = toolCalls.find((call) => call.requiresApproval);
      const call = waiting && toCall(waiting);
      if (call === undefined) return undefined;
      return this.finish(agent, await this.#continue(agent as MastraAgent<R>, runId, call));
    });
    return (await Promise.all(results)).filter((result) => result !== undefined);
  }

  async #continue<R>(agent: MastraAgent<R>, runId: string, call: ToolCall): Promise<R> {
    const verdict = await this.#gate.decide(call);
    const run = { runId, toolCallId: call.id };
    if (verdict.kind === "denied") return agent.declineToolCallGenerate({ ...run, reason: verdict.reason });
    return agent.approveToolCallGenerate(run);
  }
}

/** Returns the tool with an `execute` that runs only approved calls. */
function gated(gate: Gate, name: string, tool: MastraTool, deferred: boolean): MastraTool {
  const { execute } = tool;
  if (execute === undefined) return tool;
  const required = async (args: object) => Boolean(await gate.required({ tool: name, args }));
  return Object.assign(Object.create(Object.getPrototypeOf(tool) as object), tool, {
    // A person's text may take the place of the result.
    outputSchema: undefined,
    ...(deferred ? { requireApproval: true, needsApprovalFn: required } : {}),
    execute: async (input: unknown, context: ToolContext) => {
      const id = context.agent?.toolCallId;
      if (id === undefined) throw new Error(`the tool ${name} was not called by an agent, so the call has no id`);
      let note: string | undefined;
      const output = await gate.run(
        { id, tool: name, args: input as object },
        (args) => execute(args, context),
        (verdict) => {
          note = noteFor(verdict);
        },
      );
      return note === undefined ? output : { note, result: output };
    },
  }) as MastraTool;
}

/** Returns the call that suspends the run. Returns `undefined` if the run ended, or if a tool suspended it itself. */
function suspended(result: Result): ToolCall | undefined {
  if (result.finishReason !== "suspended") return undefined;
  return toCall(result.suspendPayload as { toolCallId?: string; toolName?: string; args?: unknown });
}

function toCall(call: { toolCallId?: string; toolName?: string; args?: unknown } | undefined): ToolCall | undefined {
  if (!call?.toolCallId || !call.toolName || call.args === undefined) return undefined;
  return { id: call.toolCallId, tool: call.toolName, args: call.args as object };
}

function schemas(tools: Record<string, object>): Map<string, Schema<object>> {
  const known = new Map<string, Schema<object>>();
  for (const [name, { inputSchema }] of Object.entries(tools) as [string, MastraTool][]) {
    const schema = editSchema(inputSchema);
    if (schema !== undefined) known.set(name, schema);
  }
  return known;
}
