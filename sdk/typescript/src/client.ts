// The client: asks people, waits for their decisions, and uses approvals.

import { randomUUID } from "node:crypto";
import { Approval } from "./approval.js";
import { jsonCopy } from "./canonical.js";
import { Decisions } from "./decisions.js";
import { Cancelled, Expired, Rejected, Responded, Skipped, WaitTimeout } from "./errors.js";
import { idempotencyKey } from "./key.js";
import { type RequireOptions, type Wrapped, wrap } from "./require-approval.js";
import { type JsonSchema, type Schema, type StandardSchema, toJsonSchema, validate } from "./schema.js";
import { Server } from "./server.js";
import type { Settings } from "./settings.js";
import { type AskFields, askFields, type Call, type Interrupt } from "./wire.js";

/** Options of a request and of its wait. */
export interface WaitOptions {
  /**
   * Idempotency key, or its parts, such as the conversation and the id of the call. A process that starts again with
   * the same key gets the decision on the first request. Without it, each call opens a new request.
   */
  key?: string | readonly string[];
  /** Milliseconds to wait for the decision. The request then stays open, and {@link WaitTimeout} is thrown. */
  timeoutMs?: number;
  /** Ends the wait with the signal's reason. The request stays open. */
  signal?: AbortSignal;
  /** Called with each request that waits for a decision. */
  onAsked?: (asked: { id: string; link: string }) => void;
}

export interface AskOptions extends AskFields, WaitOptions {
  /** Facts for the person. */
  context?: string;
  /** Data that helps to answer. */
  details?: Record<string, unknown>;
}

export interface ApproveOptions<Arguments extends object> extends AskFields, WaitOptions {
  /** Title of the card. Defaults to the name of the tool. */
  title?: string;
  /** Reason why the call needs approval. */
  reason?: string;
  /** Further data that helps to decide. */
  details?: Record<string, unknown>;
  /** Schema of the arguments, for edits. */
  schema?: Schema<Arguments>;
  /** False if the caller cannot run edited arguments. The card then offers no edit. Defaults to true. */
  editable?: boolean;
  /** True to let the person provide the tool's result, which throws {@link Responded}. Defaults to false. */
  respondable?: boolean;
  /** False to use the approval later, with `approval.use()`. Defaults to true. */
  use?: boolean;
  /** Milliseconds after the decision during which the approval can be used. */
  usableMs?: number;
  /** Absolute path of the agent's folder. */
  workspace?: string;
  /** Absolute working directory of a command. */
  cwd?: string;
  /** Content of a file before and after the call. The card shows the difference. */
  change?: { before?: string; after: string };
}

/** Longest title that is used as it is. A longer question is shown in full below its beginning. */
const TITLE_LENGTH = 120;

export class Holdshort {
  readonly #server: Server;
  readonly #decisions: Decisions;
  readonly #log: (line: string) => void;

  /**
   * @throws {NotConfigured} if an address has the wrong form.
   */
  constructor(settings: Settings = {}) {
    const { log = (line: string) => console.error(line) } = settings;
    this.#log = log === false ? () => {} : log;
    this.#server = new Server(settings);
    this.#decisions = sharedDecisions(this.#server, settings, this.#log);
  }

  /**
   * Asks a person a question, and returns the answer: a text, or data that fits the schema.
   *
   * @throws {Skipped | Expired | Cancelled} if there is no answer.
   * @throws {WaitTimeout} if `timeoutMs` has passed.
   */
  ask(question: string, options?: AskOptions): Promise<string>;
  ask<Output>(question: string, options: AskOptions & { schema: StandardSchema<Output> }): Promise<Output>;
  ask<Output = unknown>(question: string, options: AskOptions & { schema: JsonSchema }): Promise<Output>;
  async ask(question: string, options: AskOptions & { schema?: Schema<unknown> } = {}): Promise<unknown> {
    const { schema, context, details } = options;
    const { title, rest } = splitQuestion(question);
    const message = [rest, context].filter(Boolean).join("\n\n");
    const interrupt = await this.#decide(options, {
      kind: "question",
      title,
      ...(message ? { message } : {}),
      ...(details ? { payload: details } : {}),
      ...(schema ? { response_schema: await toJsonSchema(schema) } : {}),
    });
    const link = this.#server.link(interrupt.id);
    const { outcome, option, text, edit } = interrupt.resolution ?? {};
    if (outcome === "expired") throw new Expired(interrupt, link);
    if (outcome !== "answered") throw new Cancelled(interrupt, link);
    if (option === "skip") throw new Skipped(interrupt, link);
    const isData = interrupt.options.some((offer) => offer.id === "answer" && offer.needs_edit === true);
    const answer = isData ? edit : (text ?? "");
    return schema ? validate(schema, answer, link) : answer;
  }

  /**
   * Asks a person to approve a tool call, and uses the approval. Run the tool with `approval.arguments` at once.
   *
   * @throws {Rejected | Expired | Cancelled | Responded} if the call was not approved.
   * @throws {ApprovalUsed} if an earlier process with this key has already started the work.
   * @throws {WaitTimeout} if `timeoutMs` has passed.
   */
  async approve<Arguments extends object>(
    tool: string,
    args: Arguments,
    options: ApproveOptions<Arguments> = {},
  ): Promise<Approval<Arguments>> {
    const { editable = true, respondable = false, schema, details, reason } = options;
    const { workspace, cwd, change } = options;
    const call: Call = {
      tool,
      arguments: args,
      ...(workspace === undefined ? {} : { workspace }),
      ...(cwd === undefined ? {} : { cwd }),
      ...change,
    };
    const offered = ["approve", ...(editable ? ["edit"] : []), ...(respondable ? ["respond"] : []), "reject"];
    const interrupt = await this.#decide(options, {
      kind: "tool_approval",
      title: options.title ?? tool,
      call: jsonCopy(call),
      ...(reason ? { message: reason } : {}),
      ...(details ? { payload: details } : {}),
      // With all options of the kind, the server may also offer an approval for the whole session.
      ...(editable && respondable ? {} : { options: offered.map((id) => ({ id })) }),
      ...(editable && schema ? await editSchema(schema) : {}),
      ...(options.usableMs === undefined ? {} : { usable_ms: options.usableMs }),
    });
    const link = this.#server.link(interrupt.id);
    const outcome = interrupt.resolution?.outcome;
    if (outcome === "expired") throw new Expired(interrupt, link);
    if (outcome === "rejected") throw new Rejected(interrupt, link);
    if (outcome === "answered") throw new Responded(interrupt, link);
    if (outcome !== "approved") throw new Cancelled(interrupt, link);
    const edited = interrupt.approval?.approved as Call | undefined;
    const edit = edited && (schema ? await validate(schema, edited.arguments, link) : (edited.arguments as Arguments));
    const approval = new Approval<Arguments>(this.#server, interrupt, call, edit);
    if (options.use !== false) await approval.use();
    return approval;
  }

  /**
   * Returns a function that runs `tool` after an approval. `when` decides which calls need approval, and may return
   * the reason. The tool may also throw `ApprovalRequired`.
   */
  requireApproval<Arguments extends object, Rest extends unknown[], Result>(
    tool: (args: Arguments, ...rest: Rest) => Result,
    options: RequireOptions<Arguments, Rest, Awaited<Result>> = {},
  ): Wrapped<Arguments, Rest, Result> {
    return wrap(this, tool, options);
  }

  /**
   * Withdraws a request that is no longer needed. The SDK never does this by itself, not even when the process ends.
   *
   * @throws {AlreadyResolved} if a person has already decided.
   */
  async withdraw(id: string, reason?: string): Promise<void> {
    const path = `/v1/interrupts/${encodeURIComponent(id)}/cancel`;
    await this.#server.send({ method: "POST", path, body: reason === undefined ? {} : { text: reason } });
  }

  async #decide(options: AskFields & WaitOptions, request: Record<string, unknown>): Promise<Interrupt> {
    const { key = randomUUID(), timeoutMs, signal, onAsked } = options;
    const body = jsonCopy({ ...request, ...askFields(options) });
    const stop = new AbortController();
    const abort = () => stop.abort(signal?.reason);
    let timer: NodeJS.Timeout | undefined;
    signal?.throwIfAborted();
    signal?.addEventListener("abort", abort, { once: true });
    const ask = async () => {
      const { value: interrupt, headers } = await this.#server.ask<Interrupt>({
        method: "POST",
        path: "/v1/interrupts",
        body,
        key: typeof key === "string" ? idempotencyKey(key) : idempotencyKey(...key),
        signal: stop.signal,
      });
      // The cursor of a repeated request is before all decisions, so it is not used.
      const isRepeated = headers.get("idempotency-replayed") === "true";
      return { interrupt, cursor: isRepeated ? "" : (headers.get("decisions-cursor") ?? "") };
    };
    const opened = ({ id, title }: Interrupt) => {
      const link = this.#server.link(id);
      this.#log(`holdshort: waiting for a decision on ${JSON.stringify(title)}: ${link}`);
      onAsked?.({ id, link });
      if (timeoutMs === undefined) return;
      timer = setTimeout(() => stop.abort(new WaitTimeout(id, link, timeoutMs)), timeoutMs);
    };
    try {
      return await this.#decisions.decide(ask, opened, stop.signal);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }
}

/** Returns a title, and the full question if the title is only its beginning. */
function splitQuestion(question: string): { title: string; rest: string } {
  const line = question.trim().split("\n", 1)[0] ?? "";
  if (line === question.trim() && line.length <= TITLE_LENGTH) return { title: line, rest: "" };
  const title = line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH).toWellFormed()}…`;
  return { title, rest: question };
}

/** Largest JSON Schema that the server accepts, in bytes. */
const SCHEMA_BYTES = 16 * 1024;

/** Returns the schema of an edit. A larger schema is left out: the person then types JSON, and `validate` checks it. */
async function editSchema(schema: Schema<unknown>): Promise<{ response_schema?: JsonSchema }> {
  const response_schema = await toJsonSchema(schema);
  return Buffer.byteLength(JSON.stringify(response_schema)) <= SCHEMA_BYTES ? { response_schema } : {};
}

/**
 * Streams of this process, by the functions for requests and for the token, then by the address and the token. Clients
 * with the same settings share one. Functions that nobody holds any more take their streams with them.
 */
const streams = new WeakMap<object, WeakMap<object, Map<string, Decisions>>>();
const NONE = {};

function sharedDecisions(
  server: Server,
  { token, fetch = NONE as never }: Settings,
  log: (line: string) => void,
): Decisions {
  const byToken = streams.get(fetch) ?? new WeakMap<object, Map<string, Decisions>>();
  streams.set(fetch, byToken);
  const source = typeof token === "function" ? token : NONE;
  const byAddress = byToken.get(source) ?? new Map<string, Decisions>();
  byToken.set(source, byAddress);
  const address = JSON.stringify([server.url, typeof token === "string" ? token : ""]);
  const decisions = byAddress.get(address) ?? new Decisions(server, log);
  byAddress.set(address, decisions);
  return decisions;
}
