// What the conversation of a run consists of. An item that changes is replaced, never written to.
import type { Event } from "../../api/types";

export type Actor = Event["actor"];

interface Told {
  /** The `seq` of the event that it began with: its place, and its name in lists. */
  seq: number;
  at: string;
}

export interface Task extends Told {
  type: "task";
  by: Actor;
  input: unknown;
}

/** A phase or a step begins. */
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

/** An interrupt, and what came of it. */
export interface Ask {
  interrupt: string;
  kind: string;
  title: string;
  message: string;
  payload: unknown;
  options: unknown[];
  /** The option that was taken, and what came with it. */
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
  /** A person changed the arguments before it ran. */
  edited: boolean;
  stage: Stage;
  /** It runs where it can harm nothing. */
  isTried?: boolean;
  /** What it does is being written: it runs no more, and can not be stopped halfway. */
  isWriting?: boolean;
  /** A person has stopped it, and its end is not told yet. */
  isStopped?: boolean;
  /** Paths of the workspace that it changes, once it is done. */
  changed?: number;
  /** What the look at it found: diff, command, path. */
  look?: unknown;
  /** The rule or the grant that released it; where a person did, the ask says so. */
  release?: unknown;
  asks: Ask[];
  plan?: unknown[];
  /** What its result was called while it was held back. */
  held?: string;
  released?: { title: string; content: string; edited: boolean };
  startedAt?: string;
  endedAt?: string;
  end?: string;
  code?: string;
  result?: string;
  data?: unknown;
  /** Went back to the gate, was lost or came into doubt. */
  troubles: string[];
}

export interface Message extends Told {
  type: "message";
  by: Actor;
  text: string;
}

/** A light line: something that is worth a few words. The key of its words is `run.note.` and `what`. */
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

/** Kinds that are about whether a call may run: told with the call. The others are a conversation with a person. */
const GATES = new Set(["tool_approval", "unknown_outcome", "client_call", "continuation"]);

/** The question, plan or review that a call was made for. */
export function talk(call: Call): Ask | undefined {
  return call.asks.findLast((ask) => !GATES.has(ask.kind));
}
