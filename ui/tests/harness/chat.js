// `holdshort chat` in a terminal of its own, next to the browser.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { environment, PROGRAM } from "./program.js";

/** Timeout, for a busy machine. */
const PATIENCE_MS = 30_000;

/**
 * Opens a session in the terminal client until the test ends.
 * @param {import("node:test").TestContext} t
 * @param {import("./server.js").Server} server
 * @param {string} session
 */
export async function openChat(t, server, session) {
  const chat = new Chat(server, session);
  t.after(() => chat.kill());
  await chat.expect("> ");
  return chat;
}

class Chat {
  #child;
  #shown = "";
  /** Number of characters of the output that `expect` has consumed. */
  #seen = 0;
  #changed = () => undefined;

  constructor(server, session) {
    // `script` provides a terminal.
    const line = `${PROGRAM} chat --session ${session} --data ${server.data}`;
    this.#child = spawn("script", ["--quiet", "--flush", "--return", "--command", line, "/dev/null"], {
      cwd: server.folder,
      env: { ...environment(server.folder), TERM: "xterm", COLUMNS: "100" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.stdout.on("data", (bytes) => {
      this.#shown += stripVTControlCharacters(bytes.toString()).replaceAll("\r", "");
      this.#changed();
    });
  }

  /** Waits until the text is shown after the last match. Returns the output in between. */
  async expect(text) {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const at = this.#shown.indexOf(text, this.#seen);
      if (at >= 0) {
        const between = this.#shown.slice(this.#seen, at + text.length);
        this.#seen = at + text.length;
        return between;
      }
      const left = until - performance.now();
      assert(left > 0, `${JSON.stringify(text)} is not shown:\n${this.#shown.slice(this.#seen)}`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#changed = () => {
          clearTimeout(timer);
          resolve(undefined);
        };
      });
    }
  }

  type(keys) {
    this.#child.stdin.write(keys);
  }

  /** Quits the client. Returns its exit code. */
  async leave() {
    const ended = once(this.#child, "exit");
    this.type("/quit\r");
    return (await ended)[0];
  }

  kill() {
    this.#child.kill("SIGKILL");
  }
}
