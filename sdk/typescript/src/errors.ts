// Errors of the SDK. Each class has a stable `code` to branch on.

import type { Interrupt, Problem } from "./wire.js";

/** Base class of all errors that the SDK throws. */
export class HoldshortError extends Error {
  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The server's address or the agent's token is missing or has the wrong form. */
export class NotConfigured extends HoldshortError {
  constructor(message: string, options?: ErrorOptions) {
    super("not_configured", message, options);
  }
}

/** A value cannot be written as JSON. */
export class NotJson extends HoldshortError {
  constructor(
    /** JSON pointer (RFC 6901) to the part that is not JSON. */
    readonly pointer: string,
    reason: string,
  ) {
    super("not_json", `the value at "${pointer}" cannot be written as JSON: ${reason}`);
  }
}

/** The server gave no answer in the time that `retryForMs` allows. A repeat with the same key does no harm. */
export class Unreachable extends HoldshortError {
  constructor(url: string, options: ErrorOptions) {
    const { cause } = options;
    const reason = cause instanceof Error ? cause.message : String(cause);
    super("unreachable", `no answer from the Holdshort server at ${url}: ${reason}`, options);
  }
}

/** The server refused a request. `code` is the code of the problem: see `/docs/errors/{code}` of the server. */
export class Refused extends HoldshortError {
  readonly status: number;
  constructor(
    readonly problem: Problem,
    /** Time that the server asks to wait before a repeat, in milliseconds. */
    readonly retryAfterMs = 0,
  ) {
    super(problem.code, problem.detail ?? problem.title ?? `the server answered ${problem.status}`);
    this.status = problem.status;
  }
}

/** A field of the request has a wrong value. `errors` names each field with its JSON pointer. */
export class InvalidRequest extends Refused {
  readonly errors: readonly { readonly pointer: string; readonly message: string }[];
  constructor(problem: Problem) {
    const errors = problem.errors ?? [];
    const fields = errors.map((error) => `${error.pointer}: ${error.message}`).join("; ");
    super({ ...problem, detail: fields || problem.detail || "the request is invalid" });
    this.errors = errors;
  }
}

/** An earlier request with this key had another content. Ask with the same content, or with a new key. */
export class KeyReused extends Refused {}

/** The token is missing, unknown, expired or revoked. */
export class Unauthenticated extends Refused {}

/** The approval was used before: the work was started by this key once, and must not be started again. */
export class ApprovalUsed extends Refused {
  constructor(problem: Problem) {
    const at = problem.approval?.used?.at ?? "an earlier time";
    super({
      ...problem,
      detail: `the approval was used at ${at}: the work may be done, and must not be started again`,
    });
  }

  get usedAt(): string | undefined {
    return this.problem.approval?.used?.at;
  }
}

/**
 * The approval cannot be used. `code` is `approval_expired`, `approval_differs` (the work changed after it was
 * shown), `not_approved` or `frozen`.
 */
export class NotUsable extends Refused {}

/** The interrupt was resolved before it could be withdrawn. */
export class AlreadyResolved extends Refused {}

const BY_CODE: Record<string, new (problem: Problem, retryAfterMs: number) => Refused> = {
  invalid_request: InvalidRequest,
  idempotency_key_reused: KeyReused,
  unauthenticated: Unauthenticated,
  credential_expired: Unauthenticated,
  access_ended: Unauthenticated,
  approval_used: ApprovalUsed,
  approval_expired: NotUsable,
  approval_differs: NotUsable,
  not_approved: NotUsable,
  frozen: NotUsable,
  already_resolved: AlreadyResolved,
};

/** Returns the error for a problem. */
export function refused(problem: Problem, retryAfterMs = 0): Refused {
  return new (BY_CODE[problem.code] ?? Refused)(problem, retryAfterMs);
}

/** A person or the server decided, but did not grant what was asked. */
export abstract class NotGranted extends HoldshortError {
  constructor(
    code: string,
    message: string,
    readonly interrupt: Interrupt,
    readonly link: string,
  ) {
    super(code, message);
    // The whole interrupt belongs to the error, but not to its printed form.
    Object.defineProperty(this, "interrupt", { enumerable: false });
  }

  /** Text that the person added. */
  get words(): string | undefined {
    return this.interrupt.resolution?.text ?? undefined;
  }

  /** Ids of the people who decided. */
  get by(): readonly string[] {
    return this.interrupt.resolution?.by ?? [];
  }
}

/** A person or a rule said no. */
export class Rejected extends NotGranted {
  constructor(interrupt: Interrupt, link: string) {
    const { by = [], text, cause } = interrupt.resolution ?? {};
    const rule = interrupt.risk?.reasons.find((reason) => reason.code === "rule")?.text;
    const who = cause === "rule" ? "a rule" : by.join(", ") || "a person";
    const why = text ?? (cause === "rule" ? rule : undefined);
    super("rejected", `rejected by ${who}${why ? `: ${why}` : ""}`, interrupt, link);
  }
}

/** The request expired without a decision. */
export class Expired extends NotGranted {
  constructor(interrupt: Interrupt, link: string) {
    super("expired", "the request expired without a decision", interrupt, link);
  }
}

/** The request was withdrawn or superseded, its run was cancelled, or this version does not know the outcome. */
export class Cancelled extends NotGranted {
  constructor(interrupt: Interrupt, link: string) {
    const { outcome, cause, text } = interrupt.resolution ?? {};
    super("cancelled", `the request was ${outcome} (${cause})${text ? `: ${text}` : ""}`, interrupt, link);
  }
}

/** The person skipped the question. */
export class Skipped extends NotGranted {
  constructor(interrupt: Interrupt, link: string) {
    super("skipped", "the question was skipped", interrupt, link);
  }
}

/** The person provided the result of the tool instead of letting the tool run. `result` is the person's text. */
export class Responded extends NotGranted {
  constructor(interrupt: Interrupt, link: string) {
    super("responded", "a person provided the result, so the tool must not run", interrupt, link);
  }

  get result(): string {
    return this.words ?? "";
  }
}

/** The caller's `timeoutMs` passed. The request stays open: ask again with the same key to go on waiting. */
export class WaitTimeout extends HoldshortError {
  constructor(
    readonly id: string,
    readonly link: string,
    timeoutMs: number,
  ) {
    super("wait_timeout", `no decision within ${timeoutMs} ms; the request stays open at ${link}`);
  }
}

/** The answer or the edited arguments do not fit the schema's own checks, which the server does not know. */
export class InvalidAnswer extends HoldshortError {
  constructor(
    readonly value: unknown,
    readonly issues: readonly { readonly message: string }[],
    readonly link: string,
  ) {
    super("invalid_answer", `the answer is invalid: ${issues.map((issue) => issue.message).join("; ")}`);
    Object.defineProperty(this, "value", { enumerable: false });
  }
}

/**
 * Thrown by a tool, before it changes anything, to have its call approved. Works in functions that
 * `requireApproval` or an adapter wraps: they ask a person, and call the tool again after an approval.
 */
export class ApprovalRequired extends HoldshortError {
  constructor(
    /** Reason that the card shows. */
    readonly reason: string,
    /** Data that helps to decide. */
    readonly details?: Record<string, unknown>,
  ) {
    super("approval_required", `approval required: ${reason}`);
  }
}
