// The real server, with its own folder and port. The binary is named by `HOLDSHORT_PROGRAM`.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Holdshort, type Settings } from "holdshort-sdk";

const PROGRAM = process.env.HOLDSHORT_PROGRAM && resolve(process.env.HOLDSHORT_PROGRAM);

/** JSON of the API, as tests read it. */
export type Json = any;

export class TestServer {
  readonly folder = mkdtempSync(join(tmpdir(), "holdshort-sdk-"));
  url = "";
  agent = "";
  #operator = "";
  #port = 0;
  #child: ChildProcess | undefined;
  /** Requests of the operator that have no response yet. */
  readonly #pending = new Set<Promise<Json>>();

  async start(...more: string[]): Promise<void> {
    assert(PROGRAM, "set HOLDSHORT_PROGRAM to the path of the holdshort binary");
    this.#port ||= await freePort();
    const data = join(this.folder, "data");
    mkdirSync(data, { recursive: true });
    const args = ["serve", "--json", "--data", data, "--listen", `127.0.0.1:${this.#port}`, ...more];
    const env = { PATH: process.env.PATH, HOME: this.folder, TMPDIR: this.folder };
    const child = spawn(PROGRAM, args, { cwd: this.folder, env, stdio: ["ignore", "pipe", "pipe"] });
    let stderr = "";
    child.stderr.on("data", (bytes) => {
      stderr += bytes;
    });
    this.#child = child;
    // A test process that dies ends its server.
    process.once("exit", () => child.kill("SIGKILL"));
    const ended = once(child, "exit").then(() => undefined);
    const said = (await Promise.race([once(createInterface(child.stdout), "line"), ended])) as [string] | undefined;
    assert(said, `the server did not start\n${stderr}`);
    const { listening, token, agent_token } = JSON.parse(said[0]);
    this.url = listening;
    this.agent = agent_token;
    this.#operator = token;
  }

  /** Ends the process as a power cut would. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** Sends a request as the operator. */
  api(method: string, path: string, body?: unknown): Promise<Json> {
    const answer = this.#send(method, path, body);
    this.#pending.add(answer);
    const done = () => this.#pending.delete(answer);
    answer.then(done, done);
    return answer;
  }

  async #send(method: string, path: string, body?: unknown): Promise<Json> {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${this.#operator}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    assert(response.ok, `${method} ${path}: ${JSON.stringify(answer)}`);
    return answer;
  }

  decide(id: string, decision: object): Promise<Json> {
    return this.api("POST", `/v1/interrupts/${id}/decisions`, decision);
  }

  /** Returns a callback that makes this decision on each request. */
  decides(decision: object): (asked: { id: string }) => void {
    return ({ id }) => void this.decide(id, decision);
  }

  /** Returns all interrupts with this title. */
  async titled(title: string): Promise<Json[]> {
    const { items } = await this.api("GET", "/v1/interrupts?limit=200");
    return items.filter((each: Json) => each.title === title);
  }

  /** Returns the open requests, as soon as there are `count`. */
  async open(count: number): Promise<Json[]> {
    for (;;) {
      const { items } = await this.api("GET", "/v1/interrupts?status=open");
      if (items.length >= count) return items;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Returns the first open request, as soon as there is one. */
  async nextOpen(): Promise<Json> {
    return (await this.open(1))[0];
  }

  /** Returns a client with the agent's token and without log lines. */
  client(settings: Settings = {}): Holdshort {
    return new Holdshort({ url: this.url, token: this.agent, log: false, ...settings });
  }

  async end(): Promise<void> {
    // A client hears a decision before the operator has the response.
    await Promise.allSettled(this.#pending);
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const socket = createServer().listen(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address() as { port: number };
  socket.close();
  await once(socket, "close");
  return port;
}
