// A call of an external agent that the installation's gates have inspected, apart from the agent's own words. Same as
// `InspectedCall` of the wire types.
import type { Interrupt } from "../../api/types";
import { command, type Data, data, isEmpty } from "./payload";

/** Members of the payload that the gates inspected: `OF_CALLS` of `crates/protocol/src/inspected_call.rs`. */
const OF_CALLS = ["tool", "arguments", "category", "workspace", "cwd", "diff", "grant"];

interface JudgedCall {
  /** The call in the form of a native card. */
  call: Interrupt;
  /** Members of the call that a native card does not show. */
  more: Data;
  /** Everything else that the agent sent. */
  beside: Data;
}

export function judgedCall(interrupt: Interrupt): JudgedCall | undefined {
  if (interrupt.origin !== "external" || !interrupt.policy) return undefined;
  const all = Object.entries(data(interrupt.payload));
  const of = (isOfCall: boolean) => Object.fromEntries(all.filter(([name]) => OF_CALLS.includes(name) === isOfCall));
  const call = { ...interrupt, payload: of(true) };
  return { call, more: more(call), beside: of(false) };
}

/** Returns the workspace, and the arguments without a drawn command. Without a command and a change, the card itself
 *  shows the arguments. */
function more(call: Interrupt): Data {
  const { workspace, diff, arguments: all } = data(call.payload);
  const { command: line, ...others } = data(all);
  const rest = command(call) !== undefined ? others : diff && all;
  return { ...(workspace !== undefined && { workspace }), ...(!isEmpty(rest) && { arguments: rest }) };
}
