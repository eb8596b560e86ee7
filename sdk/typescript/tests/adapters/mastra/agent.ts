// The agent of the tests: two tools, and a model that plays a script.

import type { MastraModelConfig } from "@mastra/core/llm";
import { createTool } from "@mastra/core/tools";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";
import { generate, ran } from "../script.js";

export const tools = {
  search: createTool({
    id: "search",
    description: "Searches the orders.",
    inputSchema: z.object({ query: z.string() }),
    execute: async ({ query }) => {
      ran.push(["search", query]);
      return { found: 1 };
    },
  }),
  refund: createTool({
    id: "refund",
    description: "Refunds an order.",
    inputSchema: z.object({ order: z.number(), amount: z.number().max(1000) }),
    outputSchema: z.object({ refunded: z.number() }),
    execute: async ({ order, amount }) => {
      ran.push(["refund", order, amount]);
      return { refunded: amount };
    },
  }),
};

const scripted = new MockLanguageModelV3({ doGenerate: async ({ prompt }) => generate(prompt) });

/** Mastra wraps models of the AI SDK, and narrows their types. */
export const model = scripted as unknown as MastraModelConfig;
