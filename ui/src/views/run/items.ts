// The items of a run's conversation. A changed item is replaced, never mutated.
import type { Event } from "../../api/types";

export type Actor = Event["actor"];

interface Told {
  /** Sequence number of the item's first event. It is also the item's position, and its key in lists. */
  seq: number;
  at: string;
}

export interface Task extends Told {
  type: "task";
  by: Actor;
  input: unknown;
}

/** Start of a phase or a step. */
export interface Divider extends Told {
  type: "divider";
  phase: string;
  step?: string;
  agent?: string;
}

export interface Said extends Told {
  type: "said";
  agent: string;
  text: string;
}

/** An interrupt and its outcome. */
export interface Ask {
  interrupt: string;
  kind: string;
  title: string;
  message: string;
  payload: unknown;
  options: unknown[];
  /** The chosen option. The members below contain the text and the edit of the decision. */
  option?: string;
  text?: string;
  edited?: boolean;
  outcome?: string;
  cause?: unknown;
  by?: Actor;
}

export interface Asked extends Told {
  type: "asked";
  agent: string;
  ask: Ask;
}

export type Stage = "proposed" | "allowed" | "running" | "ended";

export interface Call extends Told {
  type: "call";
  id: string;
  agent: string;
  tool: string;
  arguments: unknown;
  /** True if a person changed the arguments before the call ran. */
  edited: boolean;
  stage: Stage;
  /** True during a trial of the call. A trial cannot change the workspace. */
  isTried?: boolean;
  /** True while the changes of the call are written. The call can no longer be stopped. */
  isWriting?: boolean;
  /** True if a person stopped the call and the end of the call is not known yet. */
  isStopped?: boolean;
  /** Number of workspace paths that the call changes. Known after the call has ended. */
  changed?: number;
  /** Result of the inspection: diff, command, path. */
  look?: unknown;
  /** The rule or the grant that released the call. If a person released the call, the decision is in `asks`. */
  release?: unknown;
  asks: Ask[];
  plan?: unknown[];
  /** Title of the result while the result was withheld for review. */
  held?: string;
  released?: { title: string; content: string; edited: boolean };
  startedAt?: string;
  endedAt?: string;
  end?: string;
  code?: string;
  result?: string;
  data?: unknown;
  /** Problems of the call: it went back to the gate for another decision, was lost, or had an unknown outcome. */
  troubles: string[];
}

export interface Message extends Told {
  type: "message";
  by: Actor;
  text: string;
}

/** A short note in the conversation. The key of its text is `run.note.` followed by `what`. */
export interface Note extends Told {
  type: "note";
  what: string;
  by: Actor;
  tone: "plain" | "hold";
  values: Record<string, string | number>;
  text: string;
}

export interface Ended extends Told {
  type: "ended";
  status: "completed" | "failed" | "cancelled";
  reason: string;
  text: string;
  by: Actor;
}

export type Item = Task | Divider | Said | Asked | Call | Message | Note | Ended;

/**
 * Kinds of interrupts that decide whether a call may run. They are shown together with the call; all other kinds are
 * separate items of the conversation.
 */
const GATES = new Set(["tool_approval", "unknown_outcome", "client_call", "continuation"]);

/** Returns the question, plan or review that the call opened. */
export function talk(call: Call): Ask | undefined {
  return call.asks.findLast((ask) => !GATES.has(ask.kind));
}
