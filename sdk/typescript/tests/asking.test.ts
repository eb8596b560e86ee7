// Questions and approvals against a real server.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  ApprovalUsed,
  Cancelled,
  currentApproval,
  Expired,
  InvalidAnswer,
  InvalidRequest,
  KeyReused,
  NotConfigured,
  NotUsable,
  Rejected,
  Responded,
  Skipped,
  Unauthenticated,
  ApprovalRequired,
  WaitTimeout,
} from "holdshort-sdk";
import { inspect } from "node:util";
import { z } from "zod";
import { TestServer } from "./server.js";

const server = new TestServer();
before(() => server.start());
after(() => server.end());

test("a question without a schema is answered with a text", async () => {
  const onAsked = server.decides({ option: "answer", text: "eu-west" });
  assert.equal(await server.client().ask("Which region?", { onAsked }), "eu-west");
});

test("a long question is shown in full", async () => {
  const question = `Which region?\n${"It has to be near. ".repeat(20)}`;
  let card: { title: string; message: string } | undefined;
  await server.client().ask(question, {
    context: "A facts sheet.",
    onAsked: async ({ id }) => {
      card = await server.api("GET", `/v1/interrupts/${id}`);
      await server.decide(id, { option: "answer", text: "eu" });
    },
  });
  assert.deepEqual([card?.title, card?.message], ["Which region?", `${question}\n\nA facts sheet.`]);
});

test("a JSON Schema gives data, and a schema of texts gives a text", async () => {
  const client = server.client();
  const slot = { type: "object", properties: { hour: { type: "integer" } }, required: ["hour"] };
  const onAsked = server.decides({ option: "answer", edit: { hour: 14 } });
  assert.deepEqual(await client.ask("When?", { schema: slot, onAsked }), { hour: 14 });
  const day = { enum: ["mon", "tue"] };
  const answer = await client.ask("Which day?", {
    schema: day,
    onAsked: server.decides({ option: "answer", text: "tue" }),
  });
  assert.equal(answer, "tue");
  const truth = await client.ask("Sure?", {
    schema: { type: "boolean" },
    onAsked: server.decides({ option: "answer", edit: false }),
  });
  assert.equal(truth, false);
});

test("a zod schema gives its own type", async () => {
  const schema = z.object({ day: z.enum(["mon", "tue"]), at: z.iso.date().transform((text) => new Date(text)) });
  const onAsked = server.decides({ option: "answer", edit: { day: "mon", at: "2026-11-30" } });
  const answer = await server.client().ask("When?", { schema, onAsked });
  const at: Date = answer.at;
  assert.deepEqual([answer.day, at.getUTCFullYear()], ["mon", 2026]);
});

test("an answer that only zod refuses is an error with its issues", async () => {
  const schema = z.object({ hour: z.number().refine((hour) => hour % 2 === 0, "must be even") });
  const onAsked = server.decides({ option: "answer", edit: { hour: 3 } });
  await assert.rejects(server.client().ask("When?", { schema, onAsked }), (error) => {
    assert(error instanceof InvalidAnswer);
    return error.issues[0]?.message === "must be even";
  });
});

test("no answer is not an answer", async () => {
  const client = server.client();
  const ask = (decision: object) => client.ask("Which region?", { onAsked: server.decides(decision) });
  await assert.rejects(ask({ option: "skip" }), Skipped);
  await assert.rejects(ask({ option: "cancel" }), Cancelled);
  await assert.rejects(client.ask("Which region?", { expiresInMs: 1 }), Expired);
});

test("an approval has the arguments, the words and the people, and is used", async () => {
  const args = { order: 4711, amount: 120 };
  let asked = "";
  const approval = await server.client().approve("refund", args, {
    reason: "The parcel came back.",
    onAsked: ({ id }) => {
      asked = id;
      void server.decide(id, { option: "approve", text: "but hurry" });
    },
  });
  assert.deepEqual(
    { ...approval, at: undefined },
    {
      id: asked,
      link: `${server.url}/inbox/${asked}`,
      tool: "refund",
      arguments: args,
      edited: false,
      words: "but hurry",
      by: ["operator"],
      cause: "decision",
      at: undefined,
    },
  );
  assert((await server.api("GET", `/v1/interrupts/${asked}`)).approval.used);
  await assert.rejects(approval.use(), ApprovalUsed);
});

test("edited arguments are the arguments", async () => {
  const schema = z.object({ branches: z.number().int() });
  const onAsked = server.decides({ option: "edit", edit: { branches: 3 }, text: "not all" });
  const approval = await server.client().approve("git", { branches: 41 }, { schema, onAsked });
  assert.deepEqual([approval.arguments, approval.edited, approval.words], [{ branches: 3 }, true, "not all"]);
});

test("an edit that does not fit the schema is refused, and the request stays open", async () => {
  const schema = z.object({ branches: z.number().int() });
  await server.client().approve(
    "git",
    { branches: 41 },
    {
      schema,
      onAsked: async ({ id }) => {
        await assert.rejects(server.decide(id, { option: "edit", edit: { branches: "many" } }), /\/edit\/branches/);
        await server.decide(id, { option: "approve" });
      },
    },
  );
});

test("a call offers an edit and a result only to callers that can use them", async () => {
  const offers: string[][] = [];
  for (const options of [{}, { editable: false }, { respondable: true }, { editable: false, respondable: true }]) {
    const onAsked = async ({ id }: { id: string }) => {
      const { options } = await server.api("GET", `/v1/interrupts/${id}`);
      offers.push(options.map((offer: { id: string }) => offer.id));
      await server.decide(id, { option: "reject" });
    };
    await assert.rejects(server.client().approve("git", { n: 1 }, { ...options, onAsked }), Rejected);
  }
  assert.deepEqual(offers, [
    ["approve", "edit", "reject"],
    ["approve", "reject"],
    ["approve", "edit", "respond", "reject"],
    ["approve", "respond", "reject"],
  ]);
});

test("refusal, expiry, withdrawal and a result are four types", async () => {
  const client = server.client();
  const approve = (onAsked: (asked: { id: string }) => void, more = {}) =>
    client.approve("git", { branches: 41 }, { respondable: true, onAsked, ...more });
  await assert.rejects(approve(server.decides({ option: "reject", text: "too many" })), (error) => {
    assert(error instanceof Rejected);
    assert.deepEqual(
      [error.words, error.by, error.message],
      ["too many", ["operator"], "rejected by operator: too many"],
    );
    return true;
  });
  await assert.rejects(
    approve(() => {}, { expiresInMs: 1 }),
    Expired,
  );
  await assert.rejects(
    approve(({ id }) => void client.withdraw(id, "done by hand")),
    Cancelled,
  );
  await assert.rejects(
    approve(server.decides({ option: "respond", text: "0 branches deleted" })),
    (error) => error instanceof Responded && error.result === "0 branches deleted",
  );
});

test("a time-out leaves the request open, and the same key goes on waiting", async () => {
  const client = server.client();
  let first = "";
  const timedOut = client.ask("Slow?", { key: ["story", "slow"], timeoutMs: 1, onAsked: ({ id }) => (first = id) });
  await assert.rejects(timedOut, (error) => error instanceof WaitTimeout && error.id === first);
  assert.equal((await server.api("GET", `/v1/interrupts/${first}`)).status, "open");
  const onAsked = ({ id }: { id: string }) => {
    assert.equal(id, first);
    void server.decide(id, { option: "answer", text: "yes" });
  };
  assert.equal(await client.ask("Slow?", { key: ["story", "slow"], onAsked }), "yes");
  assert.equal((await server.titled("Slow?")).length, 1);
});

test("an abort ends the wait and withdraws nothing", async () => {
  const stop = new AbortController();
  let asked = "";
  const waiting = server.client().ask("Aborted?", {
    signal: stop.signal,
    onAsked: ({ id }) => {
      asked = id;
      stop.abort(new Error("enough"));
    },
  });
  await assert.rejects(waiting, /enough/);
  assert.equal((await server.api("GET", `/v1/interrupts/${asked}`)).status, "open");
  await assert.rejects(server.client().ask("Never?", { signal: stop.signal }), /enough/);
  assert.deepEqual(await server.titled("Never?"), []);
});

test("arguments that change after the request are not run", async () => {
  const args = { amount: 1 };
  const onAsked = ({ id }: { id: string }) => {
    args.amount = 1_000_000;
    void server.decide(id, { option: "approve" });
  };
  await assert.rejects(
    server.client().approve("pay", args, { onAsked }),
    (error) => error instanceof NotUsable && error.code === "approval_differs",
  );
});

test("a key is for one content, and one use", async () => {
  const client = server.client();
  const key = ["story", "reused"];
  await client.approve("git", { n: 1 }, { key, onAsked: server.decides({ option: "approve" }) });
  await assert.rejects(client.approve("git", { n: 2 }, { key }), KeyReused);
  await assert.rejects(client.approve("git", { n: 1 }, { key }), ApprovalUsed);
});

test("a wrapped function runs under its approval", async () => {
  const ran: unknown[] = [];
  const transfer = server.client().requireApproval(
    async function transfer(args: { amount: number }, memo: string) {
      ran.push([args.amount, memo, currentApproval()?.words]);
      return `sent ${args.amount}`;
    },
    {
      when: ({ amount }) => amount > 100 && `${amount} is more than 100`,
      onResponded: (text) => text,
      onAsked: async ({ id }) => {
        const { message, payload } = await server.api("GET", `/v1/interrupts/${id}`);
        const decisions: Record<string, object> = {
          "500 is more than 100": { option: "approve", text: "fine" },
          "600 is more than 100": { option: "edit", edit: { amount: 60 } },
          "700 is more than 100": { option: "respond", text: "sent by hand" },
        };
        assert.equal(payload.tool, "transfer");
        await server.decide(id, decisions[message] ?? { option: "reject", text: "no" });
      },
    },
  );
  assert.equal(await transfer({ amount: 50 }, "a"), "sent 50");
  assert.equal(await transfer({ amount: 500 }, "b"), "sent 500");
  assert.equal(await transfer({ amount: 600 }, "c"), "sent 60");
  assert.equal(await transfer({ amount: 700 }, "d"), "sent by hand");
  await assert.rejects(transfer({ amount: 800 }, "e"), Rejected);
  assert.deepEqual(ran, [
    [50, "a", undefined],
    [500, "b", "fine"],
    [60, "c", undefined],
  ]);
});

test("a tool asks in its middle, with what it has found", async () => {
  let rows = 0;
  const remove = server.client().requireApproval(
    async ({ table }: { table: string }) => {
      const count = 41_000;
      if (!currentApproval()) throw new ApprovalRequired(`${count} rows of ${table}`, { newest: "2026-11-29" });
      rows += count;
      return count;
    },
    {
      tool: "remove",
      when: () => false,
      onAsked: async ({ id }) => {
        const { message, payload } = await server.api("GET", `/v1/interrupts/${id}`);
        assert.deepEqual([message, payload.newest], ["41000 rows of orders", "2026-11-29"]);
        await server.decide(id, { option: "approve" });
      },
    },
  );
  assert.equal(await remove({ table: "orders" }), 41_000);
  assert.equal(rows, 41_000);
});

test("a function whose approval was used before does not run again", async () => {
  let runs = 0;
  const options = { key: ["story", "twice"], onAsked: server.decides({ option: "approve" }) };
  const run = async (_: { n: number }) => {
    runs += 1;
    return "ran";
  };
  const client = server.client();
  assert.equal(await client.requireApproval(run, options)({ n: 1 }), "ran");
  await assert.rejects(client.requireApproval(run, options)({ n: 1 }), ApprovalUsed);
  const found = client.requireApproval(run, { ...options, onUsed: (error) => `found, used at ${typeof error.usedAt}` });
  assert.equal(await found({ n: 1 }), "found, used at string");
  assert.equal(runs, 1);
  assert.throws(() => client.requireApproval((() => async () => {})()), NotConfigured);
});

test("rules of the installation decide without a person", async (t) => {
  const ruled = new TestServer();
  t.after(() => ruled.end());
  const file = join(ruled.folder, "rules.yaml");
  const rules = ["{tools: [look_up], do: allow}", "{tools: [drop_table], do: forbid, reason: Tables stay.}"];
  writeFileSync(file, `rules:\n${rules.map((rule) => `  - ${rule}\n`).join("")}`, { mode: 0o600 });
  await ruled.start("--rules", file);
  const onAsked = () => assert.fail("a person is asked");
  const allowed = await ruled.client().approve("look_up", { order: 1 }, { onAsked });
  assert.deepEqual([allowed.cause, allowed.by], ["rule", []]);
  await assert.rejects(ruled.client().approve("drop_table", { table: "t" }, { onAsked }), (error) => {
    assert(error instanceof Rejected);
    return error.message === "rejected by a rule: Tables stay.";
  });
});

test("a frozen agent cannot use an approval", async () => {
  const client = server.client();
  const approval = await client.approve(
    "git",
    { n: 1 },
    { use: false, onAsked: server.decides({ option: "approve" }) },
  );
  await server.api("POST", "/v1/system/freeze", { reason: "an exercise" });
  await assert.rejects(approval.use(), (error) => error instanceof NotUsable && error.code === "frozen");
  await server.api("POST", "/v1/system/unfreeze", {});
  await approval.use();
});

test("wrong fields are named, and wrong settings say what to set", async () => {
  const client = server.client();
  await assert.rejects(
    client.ask(" "),
    (error) => error instanceof InvalidRequest && error.errors[0]?.pointer === "/title",
  );
  await assert.rejects(client.ask("When?", { assignment: { approvers: ["nobody"] } }), InvalidRequest);
  await assert.rejects(client.approve("git", { n: 1n }), { code: "not_json", pointer: "/arguments/n" });
  await assert.rejects(server.client({ token: "wrong" }).ask("When?"), Unauthenticated);
  await assert.rejects(server.client({ token: "" }).ask("When?"), NotConfigured);
  await assert.rejects(server.client({ token: "two\nlines" }).ask("When?"), NotConfigured);
  await assert.rejects(
    server
      .client({
        token: () => {
          throw new TypeError("no vault");
        },
      })
      .ask("When?"),
    NotConfigured,
  );
  for (const url of ["nonsense", "ftp://example.org", "http://me:secret@example.org"]) {
    assert.throws(() => server.client({ url }), NotConfigured, url);
  }
  await assert.rejects(server.client().withdraw("int_nothing"), { code: "not_found" });
});

test("the log names the link and hides the token", async () => {
  const lines: string[] = [];
  const client = server.client({
    log: (line) => lines.push(line),
    publicUrl: "https://hold.example.org/",
    fetch: (...request) => fetch(...request),
  });
  let link = "";
  const waiting = client.ask("One\u001b[31mtwo?", {
    onAsked: (asked) => {
      link = asked.link;
      void server.decide(asked.id, { option: "answer", text: "1" });
    },
  });
  assert.equal(await waiting, "1");
  assert.match(link, /^https:\/\/hold\.example\.org\/inbox\/int_/);
  assert.deepEqual(lines, [`holdshort: waiting for a decision on "One\\u001b[31mtwo?": ${link}`]);
  const rejected = await client.approve("git", { n: 1 }, { expiresInMs: 1 }).catch((error: unknown) => error);
  for (const printed of [inspect(client, { depth: 9 }), inspect(rejected, { depth: 9 }), JSON.stringify(client)]) {
    assert(!printed.includes(server.agent), printed);
  }
});
