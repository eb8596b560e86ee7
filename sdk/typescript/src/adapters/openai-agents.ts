// Adapter for the OpenAI Agents SDK (`@openai/agents`): function tools that run only approved calls, and the decisions
// on the interruptions of a run.

import { ApprovalUsed, NotUsable } from "../errors.js";
import type { Schema } from "../schema.js";
import { editSchema, Gate, type GateOptions, noteFor, type ToolCall, type Verdict } from "./gate.js";

export interface OpenAIAgentsOptions extends GateOptions {
  /**
   * True to interrupt the run while a call waits, as with `needsApproval` of the Agents SDK. Save `result.state`, and
   * continue after `settle(state)`. Without it, the tool waits.
   */
  deferred?: boolean;
}

/** Function tool of the Agents SDK, as far as the adapter reads it. */
interface FunctionTool {
  type: string;
  name: string;
  parameters?: unknown;
  invoke: (context: never, input: string, details?: { toolCall?: { callId?: string } }) => Promise<unknown>;
}

/** State of a run, as far as the adapter uses it. */
interface RunState {
  getInterruptions(): Interruption[];
  approve(item: never): void;
  reject(item: never, options: { message: string }): void;
}

interface Interruption {
  name?: string | undefined;
  arguments?: string | undefined;
  rawItem: unknown;
}

/** Returns the tools for an agent. */
export function gateTools<Tools extends readonly object[]>(
  tools: Tools,
  options: OpenAIAgentsOptions,
): OpenAIAgentsGate<Tools> {
  return new OpenAIAgentsGate(tools, options);
}

export class OpenAIAgentsGate<Tools extends readonly object[]> {
  readonly tools: Tools;
  readonly #gate: Gate;

  constructor(tools: Tools, { deferred = false, ...options }: OpenAIAgentsOptions) {
    const gate = new Gate("openai-agents", options, schemas(tools));
    this.#gate = gate;
    this.tools = tools.map((tool) => gated(gate, tool as FunctionTool, deferred)) as unknown as Tools;
  }

  /**
   * Waits for the decisions on the calls that interrupt the run, and enters them in its state. Returns false if no call
   * interrupts the run.
   */
  async settle(state: object): Promise<boolean> {
    const run = state as RunState;
    const calls = run.getInterruptions().map((item) => ({ item, call: toCall(item) }));
    const verdicts = calls.map(async ({ item, call }) => ({ item, verdict: await this.#gate.decide(call) }));
    for (const { item, verdict } of await Promise.all(verdicts)) {
      if (verdict.kind === "denied") run.reject(item as never, { message: verdict.reason });
      else run.approve(item as never);
    }
    return calls.length > 0;
  }
}

/** Returns the tool with an `invoke` that runs only approved calls. Returns hosted tools unchanged. */
function gated(gate: Gate, tool: FunctionTool, deferred: boolean): object {
  if (tool.type !== "function") return tool;
  const { name, invoke } = tool;
  const required = async (_: unknown, args: object) => Boolean(await gate.required({ tool: name, args }));
  return {
    ...tool,
    ...(deferred ? { needsApproval: required } : {}),
    invoke: async (context: never, input: string, details?: { toolCall?: { callId?: string } }) => {
      const id = details?.toolCall?.callId;
      if (id === undefined) throw new Error(`the tool ${name} was not called by an agent, so the call has no id`);
      let note: string | undefined;
      const call = { id, tool: name, args: JSON.parse(input) as object };
      const run = (args: object) => invoke(context, JSON.stringify(args), details);
      const said = (verdict: Verdict) => {
        note = noteFor(verdict);
      };
      const output = await gate.run(call, run, said).catch((error: unknown) => {
        // An error would end the run here and at each later attempt to continue it, so the model reads it instead.
        if (error instanceof ApprovalUsed || error instanceof NotUsable) return `${error.name}: ${error.message}`;
        throw error;
      });
      if (note === undefined) return output;
      return `${note}\n\n${typeof output === "string" ? output : JSON.stringify(output)}`;
    },
  };
}

function toCall({ rawItem }: Interruption): ToolCall {
  const { callId, name, arguments: args } = rawItem as { callId: string; name: string; arguments: string };
  return { id: callId, tool: name, args: JSON.parse(args) as object };
}

function schemas(tools: readonly object[]): Map<string, Schema<object>> {
  const known = new Map<string, Schema<object>>();
  for (const { name, parameters } of tools as readonly FunctionTool[]) {
    const schema = editSchema(parameters);
    if (schema !== undefined) known.set(name, schema);
  }
  return known;
}
