// A model that plays a script: what it replies, what it has read, and which calls have run.

export interface Call {
  id: string;
  tool: string;
  args: object;
}

/** Calls that have run. */
export const ran: unknown[] = [];
/** Last message of each request to the model. */
export const requests: unknown[] = [];
const replies: (Call[] | string)[] = [];

/** Sets the replies that the model gives next: calls of tools, or a text. */
export function play(...script: (Call[] | string)[]): void {
  replies.splice(0, replies.length, ...script);
  ran.length = 0;
  requests.length = 0;
}

/** Returns the next reply. */
export function nextReply(lastMessage: unknown): Call[] | string {
  requests.push(lastMessage);
  const reply = replies.shift();
  if (reply === undefined) throw new Error("the script of the model has ended");
  return reply;
}

const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
export const usage = { inputTokens: tokens, outputTokens: tokens };

/** Returns the next reply in the form of the AI SDK. */
export function generate(prompt: readonly unknown[]) {
  const reply = nextReply(prompt.at(-1));
  const isText = typeof reply === "string";
  const toCall = ({ id, tool, args }: Call) =>
    ({ type: "tool-call", toolCallId: id, toolName: tool, input: JSON.stringify(args) }) as const;
  return {
    content: isText ? [{ type: "text" as const, text: reply }] : reply.map(toCall),
    finishReason: { unified: isText ? ("stop" as const) : ("tool-calls" as const), raw: undefined },
    usage,
    warnings: [],
  };
}
