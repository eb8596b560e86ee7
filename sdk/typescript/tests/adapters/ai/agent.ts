// The agent of the tests: two tools, and a model that plays a script.

import { tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { generate, ran } from "../script.js";

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

export const model = new MockLanguageModelV4({ doGenerate: async ({ prompt }) => generate(prompt) });
