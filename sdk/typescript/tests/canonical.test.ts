// Canonical JSON and digests, by the vectors of RFC 8785, other implementations and the server.

import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalJson, digest, NotJson } from "holdshort-sdk";
import { type Json, TestServer } from "./server.js";

/** Values, their canonical JSON and its SHA-256, as RFC 8785 and independent tools give them. */
const VECTORS: [unknown, string, string][] = [
  [null, "null", "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"],
  [{}, "{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"],
  [
    { tool: "git", branches: 41 },
    '{"branches":41,"tool":"git"}',
    "4aedb953e840ed1fa15b60c6670586d099cda8788fddb40423beddbf616082d2",
  ],
  [
    { note: "é\n€😀", amount: 0.1 },
    '{"amount":0.1,"note":"é\\n€😀"}',
    "cac94cda736a1dd2bf3d4bdad0801f6d2bdb192341621dbb07db3039b950fdac",
  ],
];

test("values have the canonical text of RFC 8785", () => {
  const rows: [unknown, string][] = [
    // RFC 8785, 3.2.2
    [
      {
        numbers: [333333333.33333329, 4.5, 2e-3, 0.000000000000000000000000001],
        string: "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        literals: [null, true, false],
      },
      '{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    ],
    // RFC 8785, 3.2.3: the order of UTF-16 code units
    [
      {
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis",
      },
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis",' +
        '"€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ],
    // RFC 8785, appendix B
    [5e-324, "5e-324"],
    [-0, "0"],
    [9007199254740991, "9007199254740991"],
    [0.000001, "0.000001"],
    [9.999999999999997e-7, "9.999999999999997e-7"],
    // As in `JSON.stringify`
    [{ a: undefined, b: new Date(0) }, '{"b":"1970-01-01T00:00:00.000Z"}'],
    ["\u2028", '"\u2028"'],
  ];
  for (const [value, text] of rows) assert.equal(canonicalJson(value), text);
});

test("digests are those of other implementations", () => {
  for (const [value, text, sha256] of VECTORS) {
    assert.equal(canonicalJson(value), text);
    assert.equal(digest(value), sha256);
  }
});

test("a value that is not JSON is named with its place", () => {
  const loop: { self?: unknown } = {};
  loop.self = loop;
  const rows: [unknown, string][] = [
    [undefined, ""],
    [{ a: [1, Number.NaN] }, "/a/1"],
    [{ a: { "b/c~": () => {} } }, "/a/b~1c~0"],
    [[1n], "/0"],
    [{ id: 2 ** 53 }, "/id"],
    [{ text: "\ud800" }, "/text"],
    [{ "\ud800": 1 }, "/\ud800"],
    [{ map: new Map() }, "/map"],
    [[undefined], "/0"],
    [loop, "/self".repeat(64)],
  ];
  for (const [value, pointer] of rows) {
    assert.throws(
      () => canonicalJson(value),
      (error) => error instanceof NotJson && error.pointer === pointer,
      pointer,
    );
  }
});

test("the server computes the same digests", async (t) => {
  const server = new TestServer();
  t.after(() => server.end());
  await server.start();
  for (let seed = 1; seed <= 40; seed += 1) {
    const call = { tool: "tool", arguments: randomObject(seed) };
    let read: Json;
    const waiting = server.client().approve(call.tool, call.arguments, {
      onAsked: ({ id }) => {
        read = server.api("GET", `/v1/interrupts/${id}`);
        void read.then(() => server.decide(id, { option: "reject" }));
      },
    });
    await assert.rejects(waiting, { code: "rejected" });
    assert.equal((await read).action_digest, digest(call), `seed ${seed}`);
  }
});

function randomObject(seed: number): Record<string, unknown> {
  let state = seed;
  const random = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
  const text = () => {
    const points = [0x41, 0x61, 0x22, 0x5c, 0x0a, 0x1f, 0x7f, 0xf6, 0x20ac, 0xfb33, 0x1f600, 0x2028];
    return String.fromCodePoint(...Array.from({ length: random(6) }, () => points[random(points.length)] ?? 0));
  };
  const number = () => [0, -1, 2 ** 53 - 1, 0.1 + 0.2, 1e-7, random(1e6) / 7, -5e-324, 1.5][random(8)];
  const value = (depth: number): unknown => {
    switch (random(depth > 0 ? 7 : 5)) {
      case 0:
        return null;
      case 1:
        return random(2) === 0;
      case 2:
        return text();
      case 3:
      case 4:
        return number();
      case 5:
        return Array.from({ length: random(4) }, () => value(depth - 1));
      default:
        return object(depth - 1);
    }
  };
  const object = (depth: number): Record<string, unknown> =>
    Object.fromEntries(Array.from({ length: random(5) }, () => [text(), value(depth)]));
  return object(4);
}
