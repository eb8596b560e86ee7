// Applies events to tool calls.
import type { Event } from "../../api/types";
import { at, list, number, text } from "./facts";
import type { Call } from "./items";

/** Returns the call with index `i` that a model's reply proposes. */
export function proposed(event: Event, i: number, agent: string): Call {
  const call = begun(event, at(event.data, "calls", i), at(event.data, "content", "data", "arguments", i), agent);
  // The added fraction keeps the calls of one reply in order, before the next event.
  return { ...call, seq: event.seq + (i + 1) / 1_000 };
}

/** Returns the call of a phase that consists of a single call. */
export function made(event: Event, agent: string): Call {
  return begun(event, event.data, at(event.data, "content", "data"), agent);
}

function begun(event: Event, named: unknown, given: unknown, agent: string): Call {
  return {
    type: "call",
    seq: event.seq,
    at: event.at,
    id: text(named, "call"),
    agent,
    tool: text(named, "tool"),
    arguments: given,
    edited: false,
    stage: "proposed",
    asks: [],
    troubles: [],
  };
}

/** Returns the call after the event. Undefined if the event is not about a call. */
export function after(call: Call, { type, data, at: when }: Event): Call | undefined {
  const content = at(data, "content", "data");
  switch (type) {
    case "tool_inspected":
      return { ...call, look: content };
    case "trial_started":
      return { ...call, isTried: true, startedAt: when };
    case "tool_tried":
    case "changes_kept":
      return { ...call, isTried: false, changed: number(data, "changed") ?? 0 };
    case "changes_proposed":
      return { ...call, changed: number(data, "changed") ?? 0 };
    case "trial_lost":
    case "trial_impossible":
      return { ...call, isTried: false, changed: 0 };
    case "tool_stopped":
      return { ...call, isStopped: true };
    case "tool_authorised":
      return { ...call, stage: "allowed", release: at(data, "by", "gate") };
    case "tool_started":
      return { ...call, stage: "running", isTried: false, startedAt: when, isWriting: at(data, "changeset") !== undefined };
    case "result_held":
      return { ...call, stage: "allowed", endedAt: when, held: text(content, "title") };
    case "tool_finished":
      return {
        ...call,
        stage: "ended",
        isTried: false,
        endedAt: when,
        end: text(data, "end"),
        code: text(data, "code"),
        result: text(data, "content", "text"),
        data: content,
      };
    case "tool_returned":
      return returned(call, text(data, "why"), at(content, "arguments"));
    case "tool_lost":
    case "tool_doubted":
      return { ...call, stage: "proposed", troubles: [...call.troubles, type.slice("tool_".length)] };
    case "plan_proposed":
      return { ...call, plan: list(content, "subtasks") };
    case "output_released":
      return {
        ...call,
        released: { title: text(content, "title"), content: text(content, "content"), edited: at(data, "edited") === true },
      };
    default:
      return undefined;
  }
}

function returned(call: Call, why: string, edit: unknown): Call {
  const back: Call = { ...call, stage: "proposed", isTried: false, isStopped: false, changed: 0, release: undefined };
  // From this event on, the version that the person edited is inspected and run.
  if (why === "edited") return { ...back, edited: true, arguments: edit ?? call.arguments };
  return { ...back, troubles: [...call.troubles, why] };
}
