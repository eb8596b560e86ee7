// The stream of decisions: one per process, and no decision is missed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { Network } from "./faults.js";
import { TestServer } from "./server.js";

const ASK = "POST /v1/interrupts";
const READ = "GET /v1/interrupts/{id}";
const STREAM = "GET /v1/agent/decisions";

const server = new TestServer();
before(() => server.start());
after(() => server.end());

const answer = (text: string) => ({ option: "answer", text });

test("300 waits of two clients share one stream, and read nothing else", async () => {
  const network = new Network();
  const clients = [server.client({ fetch: network.fetch }), server.client({ fetch: network.fetch })];
  const asked: string[] = [];
  const { promise: all, resolve } = deferred();
  const answers = Promise.all(
    Array.from({ length: 300 }, (_, i) =>
      clients[i % 2]?.ask(`Question ${i}?`, {
        onAsked: ({ id }) => {
          asked[i] = id;
          if (asked.filter(Boolean).length === 300) resolve();
        },
      }),
    ),
  );
  await all;
  await Promise.all(asked.map((id, i) => server.decide(id, answer(`${i}`))).reverse());
  assert.deepEqual(
    await answers,
    Array.from({ length: 300 }, (_, i) => `${i}`),
  );
  assert.deepEqual([network.count(STREAM), network.count(ASK), network.count(READ)], [1, 300, 0]);
  assert.equal(network.requests[0], STREAM, "the stream opens before the first question");
});

test("a decision before the response to the question is heard", async () => {
  const network = new Network();
  const client = server.client({ fetch: network.fetch });
  let decided = false;
  network.after = async (request) => {
    if (request !== ASK) return;
    // The response of the server says `open`. The decision follows before the client reads it.
    const [open] = await server.titled("Early?");
    await server.decide(open.id, answer("early"));
    // The stream brings the decision first: the second question is answered through the same stream.
    network.after = () => {};
    const second = await client.ask("Second?", { onAsked: ({ id }) => void server.decide(id, answer("2")) });
    assert.equal(second, "2");
    decided = true;
  };
  assert.equal(await client.ask("Early?"), "early");
  assert(decided);
  assert.equal(network.count(READ), 0);
});

test("a decision while the server restarts is heard once", async () => {
  const network = new Network();
  const client = server.client({ fetch: network.fetch });
  let heard = 0;
  const waiting = client.ask("Restarted?", {
    onAsked: async ({ id }) => {
      // The stream cannot open again until the decision is made.
      network.before = (request) => {
        if (request === STREAM) throw new TypeError("fetch failed");
      };
      await server.restart();
      await server.decide(id, answer("after"));
      network.before = () => {};
    },
  });
  assert.equal(await waiting.finally(() => (heard += 1)), "after");
  assert.equal(heard, 1);
  assert(network.count(STREAM) >= 2);
});

test("each new connection reads the open waits again", async () => {
  const network = new Network();
  const client = server.client({ fetch: network.fetch });
  const waiting = client.ask("Read again?", {
    onAsked: async ({ id }) => {
      const read = new Promise<void>((resolve) => {
        network.after = (request) => void (request === READ && resolve());
      });
      await server.restart();
      await read;
      await server.decide(id, answer("yes"));
    },
  });
  assert.equal(await waiting, "yes");
});

test("without a stream the waits are read", async () => {
  const network = new Network();
  network.before = (request) => {
    if (request === STREAM) throw new TypeError("fetch failed");
  };
  const lines: string[] = [];
  const client = server.client({ fetch: network.fetch, log: (line) => lines.push(line) });
  assert.equal(await client.ask("No stream?", { onAsked: server.decides(answer("read")) }), "read");
  assert(network.count(READ) >= 1);
  assert(lines.some((line) => line.startsWith('holdshort: waiting for a decision on "No stream?": http')));
});

test("a position that the server does not know is forgotten", async () => {
  const connections: { position: string | null; status: number }[] = [];
  const client = server.client({
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers);
      if (!String(input).endsWith("/v1/agent/decisions")) return fetch(input, init);
      const position = headers.get("last-event-id");
      // After the restart, the position is one of another data folder.
      if (position !== null) headers.set("last-event-id", "p999999999");
      const response = await fetch(input, { ...init, headers });
      connections.push({ position, status: response.status });
      return response;
    },
  });
  const waiting = client.ask("Unknown position?", {
    onAsked: async ({ id }) => {
      await server.restart();
      while (connections.length < 3) await new Promise(setImmediate);
      await server.decide(id, answer("heard"));
    },
  });
  assert.equal(await waiting, "heard");
  assert.match(connections[1]?.position ?? "", /^p[0-9]+$/);
  assert.deepEqual(
    connections.map(({ position, status }) => [position === null, status]),
    [
      [true, 200],
      [false, 400],
      [true, 200],
    ],
  );
});

test("the process ends after the last wait", async () => {
  const script = `
    import { Holdshort } from "holdshort-sdk";
    const client = new Holdshort({ log: false });
    const stop = new AbortController();
    await client.ask("Ends?", { signal: stop.signal, onAsked: () => stop.abort(new Error("enough")) }).catch(() => {});
    console.log("done");
  `;
  const env = { ...process.env, HOLDSHORT_URL: server.url, HOLDSHORT_AGENT_TOKEN: server.agent };
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
});

test("SIGTERM withdraws nothing", async () => {
  const script = `
    import { Holdshort } from "holdshort-sdk";
    await new Holdshort({ log: false }).ask("Terminated?", { onAsked: ({ id }) => console.log(id) });
  `;
  const env = { ...process.env, HOLDSHORT_URL: server.url, HOLDSHORT_AGENT_TOKEN: server.agent };
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [id] = await once(child.stdout, "data");
  child.kill("SIGTERM");
  const [, signal] = await once(child, "exit");
  assert.equal(signal, "SIGTERM");
  assert.equal((await server.api("GET", `/v1/interrupts/${String(id).trim()}`)).status, "open");
});

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
