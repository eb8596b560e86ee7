// The fields of JSON Schemas from pydantic and zod, as a table, without a page.
import assert from "node:assert/strict";
import test from "node:test";
import { pydantic } from "./fixtures/pydantic.js";
import { zod } from "./fixtures/zod.js";
import { load } from "./harness/module.js";

const { field } = await load("views/card/edit/form.ts");
const { blank, fits, missing, memberOf, restored, withMember, wayOf } = await load("views/card/edit/value.ts");
const { placed } = await load("parts/later/errors.ts");

/** Describes a field in one line: `*` is required, `=` is its initial value. */
function drawn(of, depth = 0) {
  const begins = of.initial === undefined ? "" : `=${JSON.stringify(of.initial)}`;
  const inner = (each) => (depth > 3 ? "…" : drawn(each, depth + 1));
  switch (of.type) {
    case "text":
      return (of.format ?? "text") + begins;
    case "number":
      return (of.isWhole ? "whole" : "number") + begins;
    case "switch":
      return `yes/no${begins}`;
    case "choice":
      return of.values.map((each) => JSON.stringify(each)).join("|") + begins;
    case "fixed":
      return `!${JSON.stringify(of.value)}`;
    case "list":
      return `[${inner(of.item())}]${begins}`;
    case "tuple":
      return `(${of.items().map(inner).join(", ")})`;
    case "record":
      return `{*: ${inner(of.item())}}`;
    case "maybe":
      return `${drawn(of.field, depth)} or null${begins}`;
    case "either":
      return of.ways.map((way) => `${way.label}: ${drawn(way.field, depth)}`).join(" / ");
    case "group":
      return depth > 3 ? "…" : `{${of.members().map((each) => `${each.name}${each.isRequired ? "*" : ""} ${inner(each.field)}`).join(", ")}}`;
    default:
      return `JSON${begins}`;
  }
}

const RACE = `{name* text, sport* "run"|"bike", on* date, km* number, second "run"|"bike"}`;
const TABLE = [
  [pydantic.Training, `{sport* "run"|"bike", ill* yes/no, hours* whole, when* date}`],
  [pydantic.Filled, `{name text="Anna", level 1|2=1, weekly yes/no=false, note text, rest whole or null=2, tags [text]=["easy"]}`],
  [pydantic.Pet, `{pet* Cat: {kind* !"cat", lives* whole} / Dog: {kind* !"dog", breed* text}}`],
  [pydantic.int, "whole"],
  [pydantic.Level, "1|2"],
  [pydantic.Literal, "1|2"],
  [pydantic.OptionalStr, "text or null"],
  [pydantic.dict, "{run whole, bike whole}"],
  [zod.Race, RACE],
  [zod.Race7, RACE],
  [
    zod.Shapes,
    `{rest* ${RACE} or null, pair* (text, number), counts* {*: whole}, either* "x"|3, at* date-time, hi* text="hi", mail email, inner {sure* yes/no}}`,
  ],
  [zod.Told, `a: {k* !"a", x* whole} / b: {k* !"b", y* text}`],
  [zod.Per, "{mon* number, tue* number}"],
  [zod.Num, "number"],
  [zod.Null, "text or null"],
  [zod.Any, "JSON"],
  [{ const: { a: 1 } }, `!{"a":1}`],
  [{ enum: [1, "two", null, true] }, `1|"two"|null|true`],
  [{ type: ["integer", "string", "null"] }, "Whole number: whole / Text: text or null"],
  [{ $defs: { "x y": { type: "integer" } }, $ref: "#/$defs/x%20y" }, "whole"],
  [{ $defs: { "a/b~c": { type: "integer" } }, $ref: "#/$defs/a~1b~0c" }, "whole"],
  [{ $ref: "#/$defs/gone" }, "JSON"],
  [{ $ref: "https://example.org/schema" }, "JSON"],
  [{ $ref: "#" }, "JSON"],
  [{ anyOf: [{ $ref: "#" }, { type: "string" }] }, "Anything, as JSON: JSON / Text: text"],
  [{ type: "object", properties: { a: { type: "string" }, b: { not: { type: "string" } } }, required: ["a"] }, "{a* text, b JSON}"],
  [{ type: "object", additionalProperties: false }, "!{}"],
  [{ allOf: [{ type: "object", properties: { a: { type: "string" } } }, { properties: { b: { type: "integer" } }, required: ["b"] }] }, "{b* whole, a text}"],
];

test("each schema becomes these fields", async (t) => {
  for (const [schema, expected] of TABLE) await t.test(expected.slice(0, 60), () => assert.equal(drawn(field(schema)), expected));
});

test("of a type with a part that no field shows that part alone is JSON", () => {
  const members = Object.fromEntries(field(pydantic.Shapes).members().map((each) => [each.name, each]));
  assert.deepEqual(
    Object.values(members).map((each) => `${each.name}: ${each.name === "again" ? each.field.isAgain : drawn(each.field)}`),
    [
      "price: Number: number / Text: text",
      "maybe: whole or null",
      "either: Whole number: whole / Text: text",
      "counts: {*: whole}",
      "pair: (whole, text)",
      "any: JSON",
      "texts: [text or null]",
      "level: 1|2",
      'one: !"x"',
      "some: 1|2",
      "at: date-time",
      "link: uri",
      "again: true",
    ],
  );
  assert.deepEqual([members.maybe.label, members.level.label], ["Maybe", "level"]);
  assert.equal(field(pydantic.Training).members()[2].field.help, "Hours a week");
});

test("a type that holds itself is drawn as far as somebody adds it", () => {
  for (const schema of [pydantic.Tree, zod.Node]) {
    let at = field(schema);
    let depth = 0;
    for (; at.type !== "json" && depth < 50; depth += 1) at = at.type === "group" ? at.members().at(-1).field : at.item();
    assert(depth > 10 && depth < 50, `${depth}`);
  }
  assert.deepEqual(blank(field(pydantic.Tree)), { name: undefined, kids: [] });
  // A type that must contain itself would never end, so its members stay empty until the person adds them.
  const endless = { type: "object", properties: { a: { $ref: "#" }, b: { $ref: "#" } }, required: ["a", "b"] };
  assert.deepEqual(blank(field(endless)), { a: undefined, b: undefined });
});

test("a form begins with nothing that nobody chose", () => {
  assert.deepEqual(blank(field(pydantic.Training)), { sport: undefined, ill: undefined, hours: undefined, when: undefined });
  assert.deepEqual(
    missing(field(pydantic.Training), { ...blank(field(pydantic.Training)), hours: 5 }, "/edit").map(({ pointer }) => pointer),
    ["/edit/sport", "/edit/ill", "/edit/when"],
  );
  for (const schema of [{ type: "boolean" }, { type: "integer" }, { enum: ["a"] }, { type: "array" }, zod.Null, zod.Told, zod.Any]) {
    assert.equal(blank(field(schema)), undefined);
    assert.deepEqual(missing(field(schema), undefined, "/edit").map(({ pointer }) => pointer), ["/edit"]);
  }
  const text = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  assert.equal(missing(field(text), { a: " " }, "").length, 1);
  // A text that an edit replaces may be empty.
  assert.equal(missing(field(text), { a: "" }, "", true, true).length, 0);
});

test("what the schema fills in is there", () => {
  assert.deepEqual(blank(field(pydantic.Filled)), { name: "Anna", level: 1, weekly: false, rest: 2, tags: ["easy"] });
  assert.deepEqual(missing(field(pydantic.Filled), blank(field(pydantic.Filled)), ""), []);
  assert.equal(blank(field({ type: "integer", default: "no number" })), undefined);
  assert.equal(blank(field({ ...zod.Null, default: null })), null);
});

test("a value goes the way that shows it and lacks the least", () => {
  const told = field(zod.Told);
  assert.equal(wayOf(told, undefined), -1);
  assert.equal(wayOf(told, { k: "b", y: "text" }), 1);
  assert.equal(wayOf(told, { k: "b" }), 1);
  assert.equal(wayOf(told, { k: "c" }), -1);
  assert.deepEqual(missing(told, { k: "b" }, "/edit").map(({ pointer }) => pointer), ["/edit/y"]);
  const number = field({ anyOf: [{ type: "integer" }, { type: "number" }] });
  assert.deepEqual([wayOf(number, 1), wayOf(number, 1.5)], [0, 1]);
});

test("a member may have a name that every object has", () => {
  const names = ["__proto__", "constructor", "toString", "", "a/b~c"];
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  const form = field(JSON.parse(JSON.stringify({ type: "object", properties, required: names })));
  let value = blank(form);
  for (const name of names) {
    assert.equal(memberOf(value, name), undefined);
    value = withMember(value, name, `of ${name}`);
  }
  assert.deepEqual(JSON.stringify(value), JSON.stringify(Object.fromEntries(names.map((name) => [name, `of ${name}`]))));
  assert.equal(fits(form, value), true);
  assert.deepEqual(missing(form, value, ""), []);
  assert.equal(memberOf({}, "constructor"), undefined);
  assert.equal(fits(form, { valueOf: "unknown" }), false);
});

test("an entry that was not filled in is not filled in when a draft is read again", () => {
  const form = field({ type: "array", items: { type: ["string", "null"] } });
  assert.deepEqual(restored(form, JSON.parse(JSON.stringify(["a", undefined]))), ["a", undefined]);
});

test("what lacks a member is told at that member", () => {
  const at = (pointer, message) => placed({ pointer, message }).pointer;
  assert.equal(at("/edit", '"when" is a required property'), "/edit/when");
  assert.equal(at("/edit/a", '"a/b" is a required property'), "/edit/a/a~1b");
  assert.equal(at("/edit", '"say \\"x\\"" is a required property'), '/edit/say "x"');
  assert.equal(at("/edit", "3 is less than the minimum of 5"), "/edit");
});
