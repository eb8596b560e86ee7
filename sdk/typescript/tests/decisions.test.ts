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

test("300 waits of two clients share one stream", async () => {
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
  assert.deepEqual([network.count(STREAM), network.count(ASK)], [1, 300]);
  // A question is read if it was opened before the stream starts, but responded to after.
  assert(network.count(READ) < 100, `${network.count(READ)} reads`);
});

test("the first stream starts before its question", async () => {
  const network = new Network();
  const client = server.client({ fetch: network.fetch });
  network.after = async (request) => {
    if (request !== ASK) return;
    const [open] = await server.titled("First?");
    await server.decide(open.id, answer("fast"));
  };
  assert.equal(await client.ask("First?"), "fast");
  assert.deepEqual(network.requests, [ASK, STREAM]);
});

test("a question older than the stream is read once", async () => {
  const network = new Network();
  const client = server.client({ fetch: network.fetch });
  const second = deferred();
  network.after = async (request) => {
    if (request !== ASK) return;
    network.after = () => {};
    const [old] = await server.titled("Older?");
    await server.decide(old.id, answer("old"));
    // The second question starts the stream after the decision.
    const newer = client.ask("Newer?", { onAsked: second.resolve });
    await second.promise;
    newer.then((text) => assert.equal(text, "new"));
  };
  assert.equal(await client.ask("Older?"), "old");
  assert.equal(network.count(READ), 1);
  const [newer] = await server.titled("Newer?");
  await server.decide(newer.id, answer("new"));
});

test("a repeated question is read after the stream has begun at the present", async () => {
  const key = "repeated";
  const asked = deferred();
  const stop = new AbortController();
  const first = server.client().ask("Repeated?", { key, signal: stop.signal, onAsked: asked.resolve });
  await asked.promise;
  stop.abort(new Error("stopped"));
  await assert.rejects(first, /stopped/);
  const network = new Network();
  network.after = async (request) => {
    if (request !== ASK) return;
    const [open] = await server.titled("Repeated?");
    await server.decide(open.id, answer("again"));
  };
  assert.equal(await server.client({ fetch: network.fetch }).ask("Repeated?", { key }), "again");
  assert.deepEqual(network.requests, [ASK, STREAM, READ]);
});

test("a decision before the response to the question is heard", async () => {
  const network = new Network();
  const client = server.client({ fetch: network.fetch });
  let decided = false;
  const streaming = client.ask("Zeroth?", { onAsked: server.decides(answer("0")) });
  assert.equal(await streaming, "0");
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

test("a stream continues after its last event", async () => {
  const network = new Network();
  const client = server.client({ fetch: network.fetch });
  const waiting = client.ask("Continued?", {
    onAsked: async ({ id }) => {
      const read = new Promise<void>((resolve) => {
        network.after = (request) => void (request === STREAM && resolve());
      });
      await read;
      await server.restart();
      await server.decide(id, answer("yes"));
    },
  });
  assert.equal(await waiting, "yes");
  assert(network.count(STREAM) >= 2);
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
  const connections: { cursor: string | null; status: number }[] = [];
  let isRestored = false;
  const network = new Network();
  const client = server.client({
    fetch: async (input, init) => {
      const url = new URL(String(input));
      if (url.pathname !== "/v1/agent/decisions") return network.fetch(input, init);
      const cursor = url.searchParams.get("cursor");
      // After the restart, the position is one of another data folder.
      if (cursor !== null && isRestored) url.searchParams.set("cursor", "p999999999");
      const response = await network.fetch(url, init);
      connections.push({ cursor, status: response.status });
      return response;
    },
  });
  const waiting = client.ask("Unknown position?", {
    onAsked: async ({ id }) => {
      while (connections.length < 1) await new Promise(setImmediate);
      isRestored = true;
      await server.restart();
      while (connections.length < 2) await new Promise(setImmediate);
      await server.decide(id, answer("heard"));
    },
  });
  assert.equal(await waiting, "heard");
  assert.deepEqual(
    connections.map(({ cursor, status }) => [cursor === null, status]),
    [
      [false, 200],
      [false, 400],
      [true, 200],
    ],
  );
  assert(network.count(READ) >= 1);
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
