// The agent of the tests: two tools, and a model that plays a script.

import { type Model, type ModelRequest, type ModelResponse, tool, Usage } from "@openai/agents";
import { z } from "zod";
import { nextReply, ran } from "../script.js";

export const tools = [
  tool({
    name: "search",
    description: "Searches the orders.",
    parameters: z.object({ query: z.string() }),
    execute: async ({ query }) => {
      ran.push(["search", query]);
      return { found: 1 };
    },
  }),
  tool({
    name: "refund",
    description: "Refunds an order.",
    parameters: z.object({ order: z.number(), amount: z.number().max(1000) }),
    execute: async ({ order, amount }) => {
      ran.push(["refund", order, amount]);
      return { refunded: amount };
    },
  }),
];

class ScriptedModel implements Model {
  async getResponse({ input }: ModelRequest): Promise<ModelResponse> {
    const reply = nextReply(typeof input === "string" ? input : input.at(-1));
    const output: ModelResponse["output"] =
      typeof reply === "string"
        ? [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: reply }] }]
        : reply.map(({ id, tool, args }) => ({
            type: "function_call",
            callId: id,
            name: tool,
            status: "completed",
            arguments: JSON.stringify(args),
          }));
    return { usage: new Usage(), output };
  }

  async *getStreamedResponse(): AsyncGenerator<never> {
    throw new Error("the tests do not stream");
  }
}

export const model = new ScriptedModel();
