// Servers of other versions, broken responses, large schemas, and two processes with one key.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  type Approval,
  ApprovalUsed,
  Cancelled,
  idempotencyKey,
  InvalidAnswer,
  InvalidRequest,
  NotUsable,
} from "holdshort-sdk";
import { z } from "zod";
import { TestServer } from "./server.js";

const server = new TestServer();
before(() => server.start());
after(() => server.end());

/** Returns a `fetch` that changes the text of each response. */
function changing(change: (text: string, path: string) => string): typeof fetch {
  return async (input, init) => {
    const { pathname } = new URL(String(input));
    const { body, status, headers } = await fetch(input, init);
    const changed = (body as ReadableStream<Uint8Array> | null)
      ?.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TransformStream<string, string>({ transform: (text, to) => to.enqueue(change(text, pathname)) }))
      .pipeThrough(new TextEncoderStream());
    return new Response(changed ?? null, { status, headers: new Headers(headers) });
  };
}

test("a newer server may add members, events and options", async () => {
  const newer = changing((text, path) =>
    path === "/v1/agent/decisions"
      ? text.replace("event: position", 'id: p0\nevent: rate\ndata: {"left": 5}\n\nevent: position')
      : text.replace(/^\{/, '{"members": {"of": "a later version"},'),
  );
  const approval = await server.client({ fetch: newer }).approve(
    "git",
    { n: 1 },
    {
      onAsked: server.decides({ option: "approve" }),
    },
  );
  assert.equal(approval.by[0], "operator");
});

test("an outcome that this version does not know is no approval", async () => {
  const newer = changing((text) => text.replaceAll('"outcome":"approved"', '"outcome":"postponed"'));
  const waiting = server.client({ fetch: newer }).approve(
    "git",
    { n: 1 },
    {
      onAsked: server.decides({ option: "approve" }),
    },
  );
  await assert.rejects(
    waiting,
    (error) => error instanceof Cancelled && /was postponed \(decision\)/.test(error.message),
  );
});

test("a server that hides an edit cannot make the original run", async () => {
  const older = changing((text) => text.replace(/"approved":\{[^}]*\}\}/, '"later":{}'));
  const onAsked = server.decides({ option: "edit", edit: { n: 2 } });
  await assert.rejects(
    server.client({ fetch: older }).approve("git", { n: 1 }, { onAsked }),
    (error) => error instanceof NotUsable && error.code === "approval_differs",
  );
});

test("a stream that breaks off, or is not JSON, is opened again", async () => {
  let streams = 0;
  const broken = changing((text, path) => {
    if (path !== "/v1/agent/decisions") return text;
    if (text.includes("event: position")) streams += 1;
    return streams < 3 ? text.replace('data: {"', "data: {") : text;
  });
  const onAsked = server.decides({ option: "answer", text: "yes" });
  assert.equal(await server.client({ fetch: broken }).ask("Broken?", { onAsked }), "yes");
});

test("a stream without an end of its event is cut off", async () => {
  let streams = 0;
  const endless: typeof fetch = async (input, init) => {
    if (!String(input).includes("/v1/agent/decisions")) return fetch(input, init);
    streams += 1;
    const chunk = new TextEncoder().encode("x".repeat(1024 * 1024));
    return new Response(new ReadableStream({ pull: (to) => to.enqueue(chunk) }));
  };
  const client = server.client({ fetch: endless });
  assert.equal(await client.ask("Endless?", { onAsked: server.decides({ option: "answer", text: "yes" }) }), "yes");
  assert(streams >= 1);
});

test("a schema of 200 fields is a form, and one that is too large still checks the edit", async () => {
  const fields = (count: number, words: string) =>
    z.object(Object.fromEntries(Array.from({ length: count }, (_, i) => [`field_${i}`, z.number().describe(words)])));
  const args = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`field_${i}`, i]));
  const edit = (value: unknown) => ({ option: "edit", edit: { ...args, field_7: value } });
  const approve = (words: string, onAsked: (asked: { id: string }) => unknown) =>
    server.client().approve("set", args, { schema: fields(200, words), onAsked: (asked) => void onAsked(asked) });
  const small = await approve("", async ({ id }) => {
    await assert.rejects(server.decide(id, edit("seven")), /\/edit\/field_7/);
    await server.decide(id, edit(70));
  });
  assert.equal(small.arguments.field_7, 70);
  const large = approve("word ".repeat(20), ({ id }) => server.decide(id, edit("seven")));
  await assert.rejects(large, (error) => error instanceof InvalidAnswer && error.issues.length === 1);
  const question = server.client().ask("Set?", { schema: fields(200, "word ".repeat(20)) });
  await assert.rejects(
    question,
    (error) => error instanceof InvalidRequest && error.errors[0]?.pointer === "/response_schema",
  );
});

test("of two processes with one key, one gets the approval", async () => {
  const key = ["story", "rivals"];
  const client = () => server.client({ fetch: (...request) => fetch(...request) });
  let asked = 0;
  const onAsked = ({ id }: { id: string }) => {
    asked += 1;
    // Both wait for the same request before it is decided.
    if (asked === 2) void server.decide(id, { option: "approve" });
  };
  const approve = () => client().approve("git", { n: 1 }, { key, title: "rivals", onAsked });
  const results = await Promise.allSettled([approve(), approve()]);
  const granted = results.filter(
    (result): result is PromiseFulfilledResult<Approval<{ n: number }>> => "value" in result,
  );
  const refused = results.filter((result) => result.status === "rejected");
  assert.deepEqual([granted.length, refused.length], [1, 1]);
  assert(refused[0]?.reason instanceof ApprovalUsed);
  assert.equal((await server.titled("rivals")).length, 1);
});

test("different parts give different keys, which every server accepts", () => {
  const parts = [
    ["a", "b"],
    ["a/b"],
    ["a", "b", ""],
    ["", "a", "b"],
    ["ä b"],
    ["\ud800"],
    ["\udc00"],
    [""],
    ["x".repeat(999)],
  ];
  const keys = parts.map((each) => idempotencyKey(...each));
  assert.equal(new Set(keys).size, parts.length);
  for (const key of keys) assert.match(key, /^[\x21-\x7e]{1,255}$/);
  assert.equal(idempotencyKey("refund-4711"), "refund-4711");
});
