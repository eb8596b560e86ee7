// Requests to the server, with retries. Owns the token, which is never part of a log line, an error or an object.

import { backoffMs, retryAfterMs, sleep } from "./backoff.js";
import { HoldshortError, type Refused, refused, Unauthenticated, Unreachable } from "./errors.js";
import { addresses, readToken, type Settings } from "./settings.js";
import type { Problem } from "./wire.js";

/** Longest time for one attempt of a request. */
const ATTEMPT_MS = 30_000;

export interface Request {
  method: "GET" | "POST";
  path: string;
  body?: unknown;
  /** `Idempotency-Key`: without it, a `POST` may be carried out again by a retry. */
  key?: string;
  signal?: AbortSignal | undefined;
}

export class Server {
  readonly url: string;
  readonly publicUrl: string;
  readonly #source: Settings["token"];
  readonly #retryForMs: number;
  readonly #fetch: typeof fetch;
  #token: Promise<string> | undefined;

  constructor(settings: Settings) {
    const { url, publicUrl } = addresses(settings);
    this.url = url;
    this.publicUrl = publicUrl;
    this.#source = settings.token;
    this.#retryForMs = settings.retryForMs ?? 60_000;
    this.#fetch = settings.fetch ?? ((...request) => fetch(...request));
  }

  /** Returns the page on which people decide about the interrupt. */
  link(interrupt: string): string {
    return `${this.publicUrl}/inbox/${encodeURIComponent(interrupt)}`;
  }

  /** Sends a request and returns the JSON of the response. Repeats it after 408, 429, 5xx and network errors. */
  async send<T>(request: Request): Promise<T> {
    return (await this.ask<T>(request)).value;
  }

  /** Sends a request as `send` does. Returns the JSON of the response with its headers. */
  async ask<T>(request: Request): Promise<{ value: T; headers: Headers }> {
    const deadline = Date.now() + this.#retryForMs;
    for (let attempt = 1; ; attempt += 1) {
      const result = await this.#attempt<T>(request);
      if ("value" in result) return result;
      const wait = backoffMs(attempt, result.retryAfterMs);
      if (Date.now() + wait > deadline) throw result.error;
      await sleep(wait, request.signal);
    }
  }

  /**
   * Opens a stream of server-sent events, in a single attempt. A refused token is read again once.
   *
   * @throws {Refused} for a refusal, and the error of `fetch` if the server cannot be reached.
   */
  async open(path: string, signal: AbortSignal): Promise<Response> {
    const response = await this.#authorized(path, { headers: { accept: "text/event-stream" }, signal });
    if (response.status === 200) return response;
    throw await readProblem(response);
  }

  /** Forgets the token, so that the next request reads it again. */
  forgetToken(): void {
    this.#token = undefined;
  }

  async #attempt<T>(
    request: Request,
  ): Promise<{ value: T; headers: Headers } | { error: HoldshortError; retryAfterMs: number }> {
    const timer = new AbortController();
    const timeout = setTimeout(() => timer.abort(new Error(`no response in ${ATTEMPT_MS} ms`)), ATTEMPT_MS);
    const abort = () => timer.abort(request.signal?.reason);
    request.signal?.throwIfAborted();
    request.signal?.addEventListener("abort", abort, { once: true });
    try {
      const headers: Record<string, string> = {};
      if (request.body !== undefined) headers["content-type"] = "application/json";
      if (request.key !== undefined) headers["idempotency-key"] = request.key;
      const response = await this.#authorized(request.path, {
        method: request.method,
        headers,
        signal: timer.signal,
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      });
      if (response.ok) return { value: (await response.json()) as T, headers: response.headers };
      const error = await readProblem(response);
      if (!isTemporary(response.status)) throw error;
      return { error, retryAfterMs: error.retryAfterMs };
    } catch (cause) {
      request.signal?.throwIfAborted();
      if (cause instanceof HoldshortError) throw cause;
      // The connection was lost, or the response was cut off.
      return { error: new Unreachable(this.url, { cause }), retryAfterMs: 0 };
    } finally {
      clearTimeout(timeout);
      request.signal?.removeEventListener("abort", abort);
    }
  }

  /** Sends a request with the token. After a 401, reads the token again and repeats the request once if it may help. */
  async #authorized(path: string, init: RequestInit & { headers: Record<string, string> }): Promise<Response> {
    const token = await this.#readToken();
    const send = (token: string) =>
      this.#fetch(this.url + path, {
        ...init,
        headers: { ...init.headers, authorization: `Bearer ${token}` },
        redirect: "manual",
      });
    const response = await send(token);
    if (response.status !== 401) return response;
    const error = await readProblem(response);
    this.forgetToken();
    const fresh = await this.#readToken();
    if (fresh === token && error.code !== "access_ended") throw error;
    return send(fresh);
  }

  #readToken(): Promise<string> {
    this.#token ??= readToken(this.#source).catch((error: unknown) => {
      this.#token = undefined;
      throw error;
    });
    return this.#token;
  }
}

/** Returns true if the same request may succeed later. */
function isTemporary(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** Reads the problem of a refused request. A proxy's error page becomes a problem with the code `http_STATUS`. */
async function readProblem(response: Response): Promise<Refused> {
  const body: unknown = await response.json().catch(() => undefined);
  const wait = retryAfterMs(response.headers.get("retry-after"));
  if (typeof body === "object" && body !== null && "code" in body && typeof body.code === "string") {
    return refused({ ...(body as Problem), status: response.status }, wait);
  }
  const detail = `the server answered with status ${response.status}`;
  return refused({ status: response.status, code: `http_${response.status}`, detail }, wait);
}

/** Returns true if waiting longer cannot help: the server does not know the token, or does not let it read. */
export function isFinal(error: unknown): boolean {
  return error instanceof Unauthenticated || (error as Partial<Refused>).status === 403;
}
