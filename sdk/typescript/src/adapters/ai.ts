// Adapter for the Vercel AI SDK 7 (`ai`): a `toolApproval` that asks through Holdshort, and tools that use the approval
// right before they run.

import type { Schema } from "../schema.js";
import { editSchema, Gate, type GateOptions, noteFor, type ToolCall, type Verdict } from "./gate.js";

export interface AiOptions extends GateOptions {
  /**
   * True to end the generation while a call waits, as with `user-approval` of the AI SDK. Save the messages, and
   * continue after `answers(messages)`. Without it, the generation waits.
   */
  deferred?: boolean;
}

type Status = "not-applicable" | "user-approval" | { type: "approved" | "denied"; reason?: string };

interface Part {
  type: string;
  approvalId?: string;
  toolCallId?: string;
  toolName?: string;
  input?: unknown;
}

interface ToolMessage {
  role: "tool";
  content: { type: "tool-approval-response"; approvalId: string; approved: boolean; reason?: string }[];
}

/** Tool of the AI SDK, as far as the adapter reads it. */
interface AiTool {
  inputSchema?: unknown;
  execute?: (input: unknown, options: { toolCallId: string }) => unknown;
  toModelOutput?: (options: { toolCallId: string; input: unknown; output: unknown }) => unknown;
}

/** Returns the tools and the `toolApproval` for `generateText`, `streamText` and `ToolLoopAgent`. */
export function gateTools<Tools extends Record<string, object>>(tools: Tools, options: AiOptions): AiGate<Tools> {
  return new AiGate(tools, options);
}

export class AiGate<Tools extends Record<string, object>> {
  readonly tools: Tools;
  readonly toolApproval: (options: {
    toolCall: { toolCallId: string; toolName: string; input: unknown };
  }) => Promise<Status>;
  readonly #gate: Gate;

  constructor(tools: Tools, { deferred = false, ...options }: AiOptions) {
    const gate = new Gate("ai", options, schemas(tools));
    this.#gate = gate;
    this.tools = Object.fromEntries(
      Object.entries(tools).map(([name, tool]) => [name, gated(gate, name, tool as AiTool)]),
    ) as Tools;
    this.toolApproval = async ({ toolCall }) => {
      const call = { id: toolCall.toolCallId, tool: toolCall.toolName, args: toolCall.input as object };
      return status(deferred ? await gate.peek(call) : await gate.decide(call));
    };
  }

  /**
   * Waits for the decisions on all calls at the end of the messages that wait for one. Returns the message to append
   * before the next generation, or `undefined` if no call waits.
   */
  async answers(messages: readonly { role: string; content: unknown }[]): Promise<ToolMessage | undefined> {
    const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as Part[]) : []));
    const answered = new Set(parts.filter((part) => part.type === "tool-approval-response").map((p) => p.approvalId));
    const waiting = parts.filter((part) => part.type === "tool-approval-request" && !answered.has(part.approvalId));
    if (waiting.length === 0) return undefined;
    const content = waiting.map(async ({ approvalId = "", toolCallId }) => {
      const part = parts.find((each) => each.type === "tool-call" && each.toolCallId === toolCallId);
      const call: ToolCall = { id: toolCallId ?? "", tool: part?.toolName ?? "", args: (part?.input ?? {}) as object };
      const verdict = await this.#gate.decide(call);
      const denied = verdict.kind === "denied" ? { reason: verdict.reason } : {};
      return {
        type: "tool-approval-response" as const,
        approvalId,
        approved: verdict.kind !== "denied",
        ...denied,
      };
    });
    return { role: "tool", content: await Promise.all(content) };
  }
}

/** Returns the tool with an `execute` that runs only approved calls. */
function gated(gate: Gate, name: string, tool: AiTool): AiTool {
  const { execute, toModelOutput } = tool;
  if (execute === undefined) return tool;
  const notes = new Map<string, string>();
  return {
    ...tool,
    execute: (input, options) => {
      const call = { id: options.toolCallId, tool: name, args: input as object };
      const said = (verdict: Verdict) => {
        const note = noteFor(verdict);
        if (note !== undefined) notes.set(options.toolCallId, note);
      };
      return gate.run(call, async (args) => last(await execute(args, options)), said);
    },
    toModelOutput: async (result) => {
      const note = notes.get(result.toolCallId);
      const isText = typeof result.output === "string";
      const own = toModelOutput ? await toModelOutput(result) : undefined;
      if (note === undefined && own !== undefined) return own;
      if (note === undefined) return isText ? { type: "text", value: result.output } : json(result.output);
      const text = isText ? result.output : JSON.stringify((own as { value?: unknown })?.value ?? result.output);
      return { type: "text", value: `${note}\n\n${text}` };
    },
  };
}

function json(value: unknown): object {
  return { type: "json", value: value === undefined ? null : value };
}

/** Returns the last value of a tool that yields preliminary results. */
async function last(output: unknown): Promise<unknown> {
  if (typeof output !== "object" || output === null || !(Symbol.asyncIterator in output)) return output;
  let value: unknown;
  for await (value of output as AsyncIterable<unknown>);
  return value;
}

function status(verdict: Verdict): Status {
  switch (verdict.kind) {
    case "free":
      return "not-applicable";
    case "open":
      return "user-approval";
    case "denied":
      return { type: "denied", reason: verdict.reason };
    case "approved":
    case "responded":
      return { type: "approved" };
  }
}

function schemas(tools: Record<string, object>): Map<string, Schema<object>> {
  const known = new Map<string, Schema<object>>();
  for (const [name, { inputSchema }] of Object.entries(tools) as [string, AiTool][]) {
    const plain = inputSchema as { jsonSchema?: unknown } | undefined;
    const schema = editSchema(plain?.jsonSchema instanceof Promise ? undefined : (plain?.jsonSchema ?? inputSchema));
    if (schema !== undefined) known.set(name, schema);
  }
  return known;
}
