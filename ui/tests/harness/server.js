// The real binary as a server: own folders, own port, both tokens; killed and started again at will.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { environment, PROGRAM } from "./program.js";

/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();
// Tests that die take their servers along.
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/**
 * A server that listens, and ends with the test.
 * @param {import("node:test").TestContext} t
 * @param {{workflows?: Record<string, {workflow: string, rehearsal?: string}>, channels?: string}} [setup] YAML by name;
 *   without any the server has the shipped workflows, and no channels
 */
export async function serve(t, setup) {
  const server = new Server(t, setup);
  await server.start();
  return server;
}

export class Server {
  /** What it prints when it starts. */
  #told = { listening: "", token: "", agent_token: "", login: "" };
  #port = 0;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #child;
  /** Standard error of all its lives. */
  #stderr = "";
  #workflows;
  #channels;

  /** Folders and no process yet. */
  constructor(t, { workflows = {}, channels = "" } = {}) {
    this.folder = mkdtempSync(join(tmpdir(), "holdshort-ui-"));
    for (const name of ["data", "home", "tmp", "workspace", "workflows"]) mkdirSync(join(this.folder, name));
    for (const [name, files] of Object.entries(workflows)) {
      mkdirSync(join(this.folder, "workflows", name));
      for (const [file, yaml] of Object.entries(files)) {
        writeFileSync(join(this.folder, "workflows", name, `${file}.yaml`), yaml);
      }
    }
    this.#workflows = Object.keys(workflows).length > 0;
    this.#channels = channels !== "";
    if (channels) writeFileSync(join(this.folder, "channels.yaml"), channels, { mode: 0o600 });
    t.after(async () => {
      await this.kill();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  get data() {
    return join(this.folder, "data");
  }

  /** A folder for runs to work in. */
  get workspace() {
    return join(this.folder, "workspace");
  }

  /** `http://127.0.0.1:PORT`: the same in every life. */
  get base() {
    return this.#told.listening;
  }

  /** The link that the latest start printed; it works once. */
  get login() {
    return this.#told.login;
  }

  /** Resolves when it listens. */
  async start() {
    assert(!this.#child, "it runs already");
    const isFirst = this.#port === 0;
    if (isFirst) this.#port = await freePort();
    const own = this.#workflows ? ["--workflows", join(this.folder, "workflows")] : [];
    const told = this.#channels ? ["--channels", join(this.folder, "channels.yaml")] : [];
    const args = ["serve", "--json", "--data", this.data, "--listen", `127.0.0.1:${this.#port}`, ...own, ...told];
    const child = spawn(PROGRAM, args, {
      cwd: this.folder,
      env: environment(this.folder),
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    running.add(child);
    child.once("exit", () => running.delete(child));
    child.stderr.on("data", (bytes) => (this.#stderr += bytes));
    const ended = once(child, "exit").then(() => undefined);
    const said = await Promise.race([once(createInterface(child.stdout), "line"), ended]);
    if (!said && isFirst && this.#stderr.includes("Address already in use")) {
      // Another test took the port since it was seen free.
      this.#child = undefined;
      this.#port = 0;
      this.#stderr = "";
      return this.start();
    }
    assert(said, `the server did not start\n${this.#stderr}`);
    this.#told = JSON.parse(said[0]);
  }

  /** SIGTERM, and waits for its end. */
  stop() {
    return this.#end("SIGTERM");
  }

  /** SIGKILL: a power cut for the process. */
  kill() {
    return this.#end("SIGKILL");
  }

  /** SIGKILL, and again on the same port and data. */
  async restart() {
    await this.kill();
    await this.start();
  }

  /** @param {"SIGTERM" | "SIGKILL"} signal */
  async #end(signal) {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  /**
   * A request with the operator's token; what is refused is thrown.
   * @param {"GET" | "POST" | "PUT" | "DELETE"} method
   * @param {string} path
   * @param {unknown} [body]
   */
  api(method, path, body) {
    return this.#request(method, path, body, this.#told.token);
  }

  /**
   * An agent of another framework asks.
   * @param {{kind: string, title: string, message?: string, payload?: unknown, [more: string]: unknown}} ask
   */
  agentAsks(ask) {
    return this.#request("POST", "/v1/interrupts", ask, this.#told.agent_token);
  }

  /** That agent starts a run of its own, to ask in. */
  agentStarts(input = undefined) {
    return this.#request("POST", "/v1/runs", { workflow: "external", input }, this.#told.agent_token);
  }

  /** A link that signs one more browser in: as this person, or as the operator. */
  async loginLink(person = undefined) {
    return (await this.api("POST", "/v1/login-links", person && { person })).url;
  }

  async #request(method, path, body, token) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(this.base + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    assert(response.ok, `${method} ${path}: ${response.status} ${text}`);
    const isPage = response.headers.get("content-type")?.startsWith("text/html");
    return text && !isPage ? JSON.parse(text) : text;
  }
}

/** Outside the range that outgoing connections take theirs from, so that it is still free after a kill. */
async function freePort() {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const socket = createServer();
    const free = await new Promise((resolve) => {
      socket.once("error", () => resolve(false));
      socket.listen(port, "127.0.0.1", () => socket.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
