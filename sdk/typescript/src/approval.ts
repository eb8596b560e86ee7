// An approval that a person or a rule gave, and its use.

import { randomUUID } from "node:crypto";
import { digest } from "./canonical.js";
import type { Server } from "./server.js";
import type { Call, Interrupt } from "./wire.js";

/** Approval of a tool call. Run exactly `arguments`, which a person may have edited. */
export class Approval<Arguments extends object = object> {
  /** Id of the interrupt. */
  readonly id: string;
  /** Page with the decision. */
  readonly link: string;
  readonly tool: string;
  /** Arguments to run the tool with: those of the call, or the person's edit. */
  readonly arguments: Arguments;
  /** True if a person edited the arguments. */
  readonly edited: boolean;
  /** Text that the person added. */
  readonly words: string | undefined;
  /** Ids of the people who approved. Empty if a rule or a grant approved. */
  readonly by: readonly string[];
  /** `decision`, `rule` or `grant`. */
  readonly cause: string;
  /** Time of the decision. */
  readonly at: Date;
  readonly #server: Server;
  readonly #call: Call;

  constructor(server: Server, interrupt: Interrupt, call: Call, edit?: Arguments) {
    const { text, by = [], cause = "", at = "" } = interrupt.resolution ?? {};
    this.id = interrupt.id;
    this.link = server.link(interrupt.id);
    this.tool = call.tool;
    this.edited = edit !== undefined;
    this.arguments = edit ?? (call.arguments as Arguments);
    this.words = text ?? undefined;
    this.by = by;
    this.cause = cause;
    this.at = new Date(at);
    this.#server = server;
    this.#call = this.edited ? (interrupt.approval?.approved as Call) : call;
  }

  /**
   * Uses the approval, right before the work. Each call is a use: a retry after a lost response is part of the call,
   * but a second call, and a call of another process, throws `ApprovalUsed`. After a crash, this is how a process
   * learns that the work may have been started before.
   *
   * @throws {ApprovalUsed} if the approval was used before.
   * @throws {NotUsable} if the approval has expired, or the arguments have changed since the request.
   */
  async use(): Promise<void> {
    await this.#server.send({
      method: "POST",
      path: `/v1/interrupts/${this.id}/consume`,
      body: { digest: digest(this.#call) },
      key: randomUUID(),
    });
  }
}
