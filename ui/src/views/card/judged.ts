// The call that an agent makes where it runs and that the installation's gates have judged, apart from what the agent says
// beside it. The same as `JudgedCall` of the wire types.
import type { Interrupt } from "../../api/types";
import { data } from "./payload";

/** What Holdshort wrote on the card of the call. An agent can not put these into its payload beside a call. */
const OURS = ["tool", "arguments", "category", "workspace", "cwd", "diff", "grant"];

/** The call as a card of ours has it, and what the agent says beside it. */
export function judgedCall(interrupt: Interrupt): { call: Interrupt; beside: Record<string, unknown> } | undefined {
  if (interrupt.origin !== "external" || !interrupt.policy) return undefined;
  const all = Object.entries(data(interrupt.payload));
  const of = (ours: boolean) => Object.fromEntries(all.filter(([name]) => OURS.includes(name) === ours));
  return { call: { ...interrupt, payload: of(true) }, beside: of(false) };
}
