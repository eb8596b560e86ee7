// Prints what zod writes for a few types: `node print_zod.mjs > zod.json` (zod 4.6.7).
import * as z from "zod";

const Line = z.object({ sku: z.string().regex(/^[A-Z]{2}-\d+$/), quantity: z.int().positive() }).meta({ id: "Line" });
const Refund = z.object({
  order: z.int(),
  amount: z.number().positive().max(500),
  currency: z.enum(["EUR", "USD"]).default("EUR"),
  lines: z.array(Line),
  spare: Line.optional(),
  due: z.iso.date().nullable(),
});
const Node = z.object({
  name: z.string(),
  get children() {
    return z.array(Node);
  },
});
const Number = z.object({ kind: z.literal("number"), value: z.number() });
const Sum = z.object({
  kind: z.literal("sum"),
  get left() {
    return Expression;
  },
  get right() {
    return Expression;
  },
});
const Expression = z.discriminatedUnion("kind", [Number, Sum]);

const print = (type, options) => z.toJSONSchema(type, options);
console.log(
  JSON.stringify(
    {
      Refund: print(Refund),
      RefundDraft7: print(Refund, { target: "draft-7" }),
      RefundReused: print(Refund, { reused: "ref", io: "input" }),
      Node: print(Node),
      Expression: print(Expression),
      Currency: print(z.enum(["EUR", "USD"])),
      Email: print(z.email()),
    },
    null,
    1,
  ),
);
