// A `fetch` that counts requests and makes some of them fail.

/** Fault of a request: a status, no connection, or a response that is lost after the server has acted. */
export type Fault = number | "refused" | "lost" | { status: number; headers?: Record<string, string>; body?: unknown };

export class Network {
  /** Requests so far, such as `POST /v1/interrupts`. Ids are replaced by `{id}`. */
  readonly requests: string[] = [];
  readonly headers: Headers[] = [];
  readonly #faults: [string, Fault][];
  /** Called before each request. */
  before: (request: string) => void | Promise<void> = () => {};
  /** Called after each response. */
  after: (request: string) => void | Promise<void> = () => {};

  constructor(...faults: [string, Fault][]) {
    this.#faults = faults;
  }

  count(request: string): number {
    return this.requests.filter((each) => each === request).length;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const path = new URL(String(input)).pathname.replace(/\/int_[^/]+/, "/{id}");
    const request = `${init?.method ?? "GET"} ${path}`;
    this.requests.push(request);
    this.headers.push(new Headers(init?.headers));
    await this.before(request);
    const at = this.#faults.findIndex(([on]) => on === request);
    const [[, fault] = []] = at < 0 ? [] : this.#faults.splice(at, 1);
    if (fault === "refused") throw new TypeError("fetch failed");
    if (typeof fault === "number") return new Response("", { status: fault });
    if (typeof fault === "object") {
      return Response.json(fault.body ?? {}, {
        status: fault.status,
        ...(fault.headers && { headers: fault.headers }),
      });
    }
    const response = await fetch(input, init);
    if (fault === "lost") {
      await response.text();
      throw new TypeError("fetch failed");
    }
    await this.after(request);
    return response;
  };
}
