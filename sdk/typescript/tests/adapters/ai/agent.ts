/** The agent of the tests: two tools, and a model that plays a script. */

import { tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";

/** Calls that have run. */
export const ran: unknown[] = [];

export const tools = {
  search: tool({
    description: "Searches the orders.",
    inputSchema: z.object({ query: z.string() }),
    execute: async ({ query }) => {
      ran.push(["search", query]);
      return { found: 1 };
    },
  }),
  refund: tool({
    description: "Refunds an order.",
    inputSchema: z.object({ order: z.number(), amount: z.number().max(1000) }),
    execute: async ({ order, amount }) => {
      ran.push(["refund", order, amount]);
      return { refunded: amount };
    },
  }),
};

export interface Call {
  id: string;
  tool: string;
  args: object;
}

/** Replies that the model gives next: calls of tools, or a text. */
const replies: (Call[] | string)[] = [];
/** Last message of each request to the model. */
export const requests: unknown[] = [];

export function play(...script: (Call[] | string)[]): void {
  replies.splice(0, replies.length, ...script);
  ran.length = 0;
  requests.length = 0;
}

const none = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };

export const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    requests.push(prompt.at(-1));
    const reply = replies.shift();
    if (reply === undefined) throw new Error("the script of the model has ended");
    const isText = typeof reply === "string";
    return {
      content: isText
        ? [{ type: "text", text: reply }]
        : reply.map((call) => ({
            type: "tool-call" as const,
            toolCallId: call.id,
            toolName: call.tool,
            input: JSON.stringify(call.args),
          })),
      finishReason: { unified: isText ? "stop" : "tool-calls", raw: undefined },
      usage: { inputTokens: none, outputTokens: none },
      warnings: [],
    };
  },
});
