// The call that an agent makes where it runs and that the installation's gates have read, apart from what the agent says
// beside it. The same as `JudgedCall` of the wire types.
import type { Interrupt } from "../../api/types";
import { command, type Data, data, isEmpty } from "./payload";

/** What stands on the card of the call as the gates read it: `OF_CALLS` of `crates/protocol/src/judged.rs`. */
const OF_CALLS = ["tool", "arguments", "category", "workspace", "cwd", "diff", "grant"];

interface JudgedCall {
  /** As a card of ours has it. */
  call: Interrupt;
  /** What of the call such a card does not show. */
  more: Data;
  /** What the agent says beside it. */
  beside: Data;
}

export function judgedCall(interrupt: Interrupt): JudgedCall | undefined {
  if (interrupt.origin !== "external" || !interrupt.policy) return undefined;
  const all = Object.entries(data(interrupt.payload));
  const of = (isOfCall: boolean) => Object.fromEntries(all.filter(([name]) => OF_CALLS.includes(name) === isOfCall));
  const call = { ...interrupt, payload: of(true) };
  return { call, more: more(call), beside: of(false) };
}

/** The workspace, and the arguments but for a command that is drawn. Without a command and a change the card shows them. */
function more(call: Interrupt): Data {
  const { workspace, diff, arguments: all } = data(call.payload);
  const { command: line, ...others } = data(all);
  const rest = command(call) !== undefined ? others : diff && all;
  return { ...(workspace !== undefined && { workspace }), ...(!isEmpty(rest) && { arguments: rest }) };
}
