// A call of an external agent that the installation's gates have inspected, separated from text that the agent added.
// The type corresponds to `InspectedCall` of the wire types.
import type { Interrupt } from "../../api/types";
import { command, type Data, data, isEmpty } from "./payload";

/** Members of the payload that the gates inspected: `OF_CALLS` of `crates/protocol/src/inspected_call.rs`. */
const OF_CALLS = ["tool", "arguments", "category", "workspace", "cwd", "diff", "grant"];

interface JudgedCall {
  /** The call in the form of a native card. */
  call: Interrupt;
  /** Members of the call that a native card does not show. */
  more: Data;
  /** All members of the payload that do not belong to the call. */
  beside: Data;
}

export function judgedCall(interrupt: Interrupt): JudgedCall | undefined {
  if (interrupt.origin !== "external" || !interrupt.policy) return undefined;
  const all = Object.entries(data(interrupt.payload));
  const of = (isOfCall: boolean) => Object.fromEntries(all.filter(([name]) => OF_CALLS.includes(name) === isOfCall));
  const call = { ...interrupt, payload: of(true) };
  return { call, more: more(call), beside: of(false) };
}

/**
 * Returns the workspace and the arguments. A command that the card shows is omitted. If the call has neither a command
 * nor a change, the card already shows all arguments.
 */
function more(call: Interrupt): Data {
  const { workspace, diff, arguments: all } = data(call.payload);
  const { command: line, ...others } = data(all);
  const rest = command(call) !== undefined ? others : diff && all;
  return { ...(workspace !== undefined && { workspace }), ...(!isEmpty(rest) && { arguments: rest }) };
}
