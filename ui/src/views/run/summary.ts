// One-line summaries of events for the timeline.
import { DOT } from "../../parts/dot";
import { plain } from "../../parts/plain";
import { t, word } from "../texts";
import type { Event } from "../../api/types";
import { at, isObject, list, number, text } from "./facts";
import { who } from "./gate";

/** Maximum length of a summary. A click shows the complete data. */
const LINE = 160;

/** Facts that are used as a summary if there is no better text. The first fact in this order is used. */
const TELLING = ["phase", "step", "agent", "call", "end", "why", "code", "limit", "value", "reason", "kind", "attempt"];

export function type(event: Event): string {
  return word("run.event", event.type);
}

export function actor(event: Event): string {
  return event.actor.role === "engine" ? t("run.by.engine") : who(event.actor);
}

export function summary({ type, data }: Event): string {
  return line(told(type, data) || facts(data));
}

function told(type: string, data: unknown): string {
  const content = at(data, "content", "data");
  const said = text(data, "content", "text");
  switch (type) {
    case "run_started":
      return text(content, "task") || text(data, "workflow");
    case "model_replied": {
      const tools = list(data, "calls").map((call) => text(call, "tool"));
      return [said, tools.length > 0 ? `→ ${tools.join(", ")}` : ""].filter(Boolean).join(" ");
    }
    case "tool_inspected":
      return [text(data, "call"), text(content, "command") || text(content, "path")].filter(Boolean).join(DOT);
    case "tool_authorised":
      return [text(data, "call"), released(at(data, "by"))].join(DOT);
    case "tool_finished":
      return [text(data, "call"), word("run.end", text(data, "end")), said].filter(Boolean).join(DOT);
    case "interrupt_opened":
      return `${word("kind", text(data, "kind"))}: ${text(content, "title")}`;
    case "decision_made":
      return [text(data, "option"), said].filter(Boolean).join(": ");
    case "interrupt_resolved":
      return [word("outcome", text(data, "outcome")), cause(at(data, "cause"))].filter(Boolean).join(DOT);
    case "plan_proposed":
      return t("run.plan.subtasks", { n: number(data, "subtasks") ?? 0 });
    case "plan_drafted":
      return t("run.plan.subtasks", { n: list(data, "subtasks").length });
    case "result_held":
      return [text(content, "title"), word("risk", text(data, "level"))].filter(Boolean).join(DOT);
    case "output_released":
      return text(content, "title");
    case "content_erased":
      return t("run.event.erased.part", { from: number(data, "from") ?? 0, to: number(data, "to") ?? 0, because: word("run.erased.because", text(data, "because")) });
    default:
      return said;
  }
}

function released(by: unknown): string {
  const rule = at(by, "gate", "rule");
  if (isObject(rule)) {
    return t("run.gate.rule", { n: (number(rule, "rule") ?? 0) + 1, source: word("run.source", text(rule, "source")) });
  }
  return at(by, "gate", "grant") ? t("run.gate.grant") : text(by, "interrupt");
}

function cause(cause: unknown): string {
  if (at(cause, "grant")) return t("run.cause.grant");
  if (at(cause, "reused")) return t("run.cause.reused");
  return typeof cause === "string" && cause !== "decision" ? word("run.cause", cause) : "";
}

function facts(data: unknown): string {
  const found = TELLING.map((key) => at(data, key)).filter((value) => typeof value === "string" || typeof value === "number");
  return found.join(DOT);
}

function line(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  return plain(flat.length > LINE ? `${flat.slice(0, LINE)}…` : flat);
}
