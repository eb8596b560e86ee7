// The real binary as a server with its own folders, port and tokens. Tests can kill and restart it.
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
// A test process that dies kills its servers.
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/**
 * Starts a server that ends with the test.
 * @param {import("node:test").TestContext} t
 * @param {{workflows?: Record<string, {workflow: string, rehearsal?: string}>, channels?: string, edgeOrigin?: string}}
 *   [setup] YAML by name, and the origin of another system's page; without it, the server has the shipped workflows and
 *   no channels
 */
export async function serve(t, setup) {
  const server = new Server(t, setup);
  await server.start();
  return server;
}

export class Server {
  /** Values printed at the latest start. */
  #told = { listening: "", token: "", agent_token: "", login: "" };
  #port = 0;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #child;
  /** Standard error of all starts. */
  #stderr = "";
  #workflows;
  #channels;
  #edgeOrigin;

  /** Creates the folders. `start` starts the process. */
  constructor(t, { workflows = {}, channels = "", edgeOrigin = "" } = {}) {
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
    this.#edgeOrigin = edgeOrigin;
    if (channels) writeFileSync(join(this.folder, "channels.yaml"), channels, { mode: 0o600 });
    t.after(async () => {
      await this.kill();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  get data() {
    return join(this.folder, "data");
  }

  /** Working directory for runs. */
  get workspace() {
    return join(this.folder, "workspace");
  }

  /** Base address `http://127.0.0.1:PORT`, the same after each restart. */
  get base() {
    return this.#told.listening;
  }

  /** The login link that the latest start printed. It works once. */
  get login() {
    return this.#told.login;
  }

  /** Starts the server. Resolves when it listens. */
  async start() {
    assert(!this.#child, "it runs already");
    const isFirst = this.#port === 0;
    if (isFirst) this.#port = await freePort();
    const own = this.#workflows ? ["--workflows", join(this.folder, "workflows")] : [];
    const told = this.#channels ? ["--channels", join(this.folder, "channels.yaml")] : [];
    const args = ["serve", "--json", "--data", this.data, "--listen", `127.0.0.1:${this.#port}`, ...own, ...told];
    if (this.#edgeOrigin) args.push("--edge-origin", this.#edgeOrigin);
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
      // Another test took the port after it was found free.
      this.#child = undefined;
      this.#port = 0;
      this.#stderr = "";
      return this.start();
    }
    assert(said, `the server did not start\n${this.#stderr}`);
    this.#told = JSON.parse(said[0]);
  }

  /** Sends SIGTERM, and waits for the end. */
  stop() {
    return this.#end("SIGTERM");
  }

  /** Sends SIGKILL, like a power cut for the process. */
  kill() {
    return this.#end("SIGKILL");
  }

  /** Sends SIGKILL, and starts again with the same port and data. */
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
   * Sends a request with the operator's token. Throws if it is rejected.
   * @param {"GET" | "POST" | "PUT" | "DELETE"} method
   * @param {string} path
   * @param {unknown} [body]
   */
  api(method, path, body) {
    return this.#request(method, path, body, this.#told.token);
  }

  /**
   * Opens an interrupt as an external agent.
   * @param {{kind: string, title: string, message?: string, payload?: unknown, [more: string]: unknown}} ask
   */
  agentAsks(ask) {
    return this.#request("POST", "/v1/interrupts", ask, this.#told.agent_token);
  }

  /** Starts a run as an external agent. */
  agentStarts(input = undefined) {
    return this.#request("POST", "/v1/runs", { workflow: "external", input }, this.#told.agent_token);
  }

  /** Returns a login link for one more browser: as this person, or as the operator. */
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

/** Returns a free port. It is outside the range of outgoing connections, so it stays free after a kill. */
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
