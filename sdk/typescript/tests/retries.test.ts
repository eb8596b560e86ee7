// Failures of the network and of the server: every request has its effect once.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Holdshort, Refused, Unauthenticated, Unreachable } from "holdshort-sdk";
import { type Fault, Network } from "./faults.js";
import { TestServer } from "./server.js";

const ASK = "POST /v1/interrupts";
const USE = "POST /v1/interrupts/{id}/consume";
const STREAM = "GET /v1/agent/decisions";

const server = new TestServer();
before(() => server.start());
after(() => server.end());

/** Asks for an approval, with these faults. Returns the number of requests for each of the two changes. */
async function approve(title: string, faults: [string, Fault][]): Promise<[number, number]> {
  const network = new Network(...faults);
  const client = server.client({ fetch: network.fetch });
  const approval = await client.approve("git", { n: 1 }, { title, onAsked: server.decides({ option: "approve" }) });
  assert.equal(approval.by[0], "operator");
  assert.equal((await server.titled(title)).length, 1, "asked once");
  return [network.count(ASK), network.count(USE)];
}

test("a request is repeated after 408, 429, 5xx and network errors", async () => {
  const faults: Fault[] = [408, 429, 500, 502, 503, 504, 507, "refused", "lost"];
  await Promise.all(
    faults.map(async (fault) => {
      assert.deepEqual(await approve(`ask ${fault}`, [[ASK, fault]]), [2, 1]);
      assert.deepEqual(await approve(`use ${fault}`, [[USE, fault]]), [1, 2]);
    }),
  );
});

test("a repeat has the key of the first request", async () => {
  const network = new Network([ASK, "lost"], [USE, "lost"]);
  const client = server.client({ fetch: network.fetch });
  await client.approve(
    "git",
    { n: 1 },
    { key: ["ai", "chat/7", "call 1"], onAsked: server.decides({ option: "approve" }) },
  );
  const keys = (request: string) =>
    network.headers.filter((_, i) => network.requests[i] === request).map((headers) => headers.get("idempotency-key"));
  assert.deepEqual(keys(ASK), ["ai/chat%2F7/call%201", "ai/chat%2F7/call%201"]);
  const [first, second] = keys(USE);
  assert(first);
  assert.equal(first, second);
});

test("a refusal is not repeated", async () => {
  for (const status of [400, 403, 404, 409, 413, 422, 302]) {
    const network = new Network([ASK, { status, body: { code: "some_code", detail: "words" } }]);
    await assert.rejects(
      server.client({ fetch: network.fetch }).ask("When?"),
      (error) => error instanceof Refused && error.code === "some_code" && error.status === status,
    );
    assert.equal(network.count(ASK), 1);
  }
});

test("a repeat waits as long as the server says", async () => {
  const began = performance.now();
  await approve("wait", [[ASK, { status: 429, headers: { "retry-after": "1" } }]]);
  assert(performance.now() - began >= 1000);
});

test("after the time for retries the error names the server and the cause", async () => {
  const network = new Network();
  network.before = (request) => {
    if (request === ASK) throw new TypeError("fetch failed");
  };
  const client = server.client({ fetch: network.fetch, retryForMs: 300 });
  await assert.rejects(client.ask("When?"), (error) => {
    assert(error instanceof Unreachable);
    assert(error.cause instanceof TypeError);
    return error.message === `no answer from the Holdshort server at ${server.url}: fetch failed`;
  });
  const busy = new Network();
  busy.before = () => {};
  const refusing = server.client({
    fetch: async (...request) => (await busy.fetch(...request), Response.json({ code: "busy" }, { status: 503 })),
    retryForMs: 100,
  });
  await assert.rejects(refusing.ask("When?"), { code: "busy", status: 503 });
});

test("a rotated token is read again", async () => {
  const created = await server.api("POST", "/v1/keys", { name: "rotated" });
  const file = join(server.folder, "token");
  writeFileSync(file, `${created.secret}\n`);
  process.env.HOLDSHORT_AGENT_TOKEN_FILE = file;
  try {
    const network = new Network();
    const client = new Holdshort({ url: server.url, fetch: network.fetch, log: false });
    const rotate = async () => {
      const { secret } = await server.api("POST", `/v1/keys/${created.id}/rotate`, {});
      writeFileSync(file, secret);
    };
    // The stream of decisions ends with the old token, and opens again with the new one.
    const approval = await client.approve(
      "git",
      { n: 1 },
      {
        onAsked: async ({ id }) => {
          await rotate();
          await server.decide(id, { option: "approve" });
        },
      },
    );
    assert.equal(approval.by[0], "operator");
    assert(network.count(STREAM) >= 2);
    const lost = client.ask("When?", {
      onAsked: async () => void (await server.api("DELETE", `/v1/keys/${created.id}`)),
    });
    await assert.rejects(lost, Unauthenticated);
  } finally {
    delete process.env.HOLDSHORT_AGENT_TOKEN_FILE;
  }
});

test("`access_ended` is repeated once with the token read again", async () => {
  const ended = { status: 401, body: { code: "access_ended" } };
  assert.deepEqual(await approve("ended once", [[ASK, ended]]), [2, 1]);
  const network = new Network([ASK, ended], [ASK, ended]);
  await assert.rejects(server.client({ fetch: network.fetch }).ask("ended twice"), Unauthenticated);
  assert.equal(network.count(ASK), 2);
  let reads = 0;
  const refused = { status: 401, body: { code: "unauthenticated" } };
  const client = server.client({
    fetch: new Network([ASK, refused], [ASK, refused]).fetch,
    token: () => `hs_${++reads}`,
  });
  await assert.rejects(client.ask("refused"), Unauthenticated);
  assert.equal(reads, 2);
});
