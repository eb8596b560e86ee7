// Requests to the native API as the signed-in person. The browser adds the session cookie, and the secret is sent as a
// header.
import { secret } from "./secret";
import type { ProblemBody } from "./types";

/** Error of a request: an RFC 9457 problem, or no response (`code` is `unreachable`). */
export class Problem extends Error {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly body: Partial<ProblemBody>;

  constructor(status: number, body: Partial<ProblemBody>) {
    super(body.detail ?? body.title ?? `${status}`);
    this.code = body.code ?? "unknown";
    this.status = status;
    this.title = body.title ?? "";
    this.body = body;
  }

  /** Returns the URL of the page that explains the code. Undefined if the server did not respond. */
  get page(): string | undefined {
    return this.body.type?.startsWith("/docs/errors/") ? this.body.type : undefined;
  }
}

type Method = "GET" | "POST" | "PUT" | "DELETE";

let onSignedOut = () => {};

/** Sets the callback that is called when the server no longer accepts the login of this browser. */
export function whenSignedOut(callback: () => void): void {
  onSignedOut = callback;
}

export async function call<T>(method: Method, path: string, body?: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<T> {
  const known = secret.read();
  const request: RequestInit = {
    method,
    headers: {
      ...(known ? { "X-Holdshort-Secret": known } : {}),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
  };
  let response: Response;
  try {
    response = await fetch(path, request);
  } catch {
    throw new Problem(0, { code: "unreachable" as ProblemBody["code"] });
  }
  if (response.status === 204) return undefined as T;
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer as T;
  if (response.status === 401) onSignedOut();
  throw new Problem(response.status, answer as Partial<ProblemBody>);
}

export const get = <T>(path: string) => call<T>("GET", path);
export const post = <T>(path: string, body?: unknown, headers?: Record<string, string>) => call<T>("POST", path, body, headers);
export const put = <T>(path: string, body: unknown) => call<T>("PUT", path, body);
export const remove = <T>(path: string) => call<T>("DELETE", path);

/** Returns a query string with the parameters that have a value. */
export function query(parameters: Record<string, string | number | undefined>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? `?${text}` : "";
}
