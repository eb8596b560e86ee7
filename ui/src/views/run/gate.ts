// Describes why a call was allowed or not.
import { plain } from "../../parts/plain";
import { t, word } from "../texts";
import { at, isObject, list, number, text } from "./facts";
import type { Actor, Ask, Call } from "./items";

export interface Verdict {
  tone: "clear" | "stop" | "hold" | "plain";
  text: string;
  /** Text of the person who decided. */
  said?: string;
  interrupt?: string;
}

/** Returns the name of a person and the type of client. Names are escaped, because people choose them. */
export function who(actor: Actor): string {
  const name = plain(actor.id);
  return actor.via ? t("run.by.via", { who: name, via: word("run.via", actor.via) }) : name;
}

export function verdicts(call: Call): Verdict[] {
  const out = call.asks.filter((ask) => ask.outcome).map(ofAsk);
  if (isObject(call.release)) out.push(ofRelease(call.release));
  if (call.end === "refused" && call.code === "forbidden") out.push({ tone: "stop", text: t("run.gate.forbidden") });
  return out;
}

/** Returns true if only rules and grants decided, and all of them allowed the call. */
export function isQuiet(verdicts: Verdict[]): boolean {
  return verdicts.every((verdict) => verdict.tone === "clear" && !verdict.interrupt);
}

/** Returns the label of the chosen option, or its id if the option is not listed. */
export function choice(ask: Ask): string {
  const option = ask.options.find((option) => text(option, "id") === ask.option);
  return plain(text(option, "label") || (ask.option ?? ""));
}

export function ofAsk(ask: Ask): Verdict {
  const outcome = ask.outcome ?? "";
  const tone = outcome === "approved" ? "clear" : outcome === "rejected" ? "stop" : outcome === "expired" ? "hold" : "plain";
  return { tone, text: sentence(ask, word("outcome", outcome)), said: ask.text || undefined, interrupt: ask.interrupt };
}

function sentence(ask: Ask, outcome: string): string {
  if (at(ask.cause, "grant")) return t("run.gate.granted_since", { outcome });
  if (at(ask.cause, "rule")) return t("run.gate.ruled", { outcome });
  if (ask.cause === "expiry") return t("run.gate.expired", { option: choice(ask) || outcome });
  if (ask.cause === "superseded" || ask.cause === "run_ended" || ask.cause === "withdrawn") return word("run.gate", ask.cause);
  const values = { outcome, who: ask.by ? who(ask.by) : "", option: choice(ask) };
  return t(ask.edited ? "run.gate.person_edited" : "run.gate.person", values);
}

function ofRelease(release: Record<string, unknown>): Verdict {
  if (release.grant) return { tone: "clear", text: t("run.gate.grant") };
  const source = word("run.source", text(release, "rule", "source"));
  return { tone: "clear", text: t("run.gate.rule", { n: (number(release, "rule", "rule") ?? 0) + 1, source }) };
}

/** Describes the end of a call in a few words. Undefined if another element already shows it. */
export function ending(call: Call): { tone: Verdict["tone"]; text: string } | undefined {
  if (call.stage === "running") return { tone: "plain", text: t("run.call.running") };
  if (call.isTried) return { tone: "plain", text: t("run.call.tried") };
  if (call.stage !== "ended") return undefined;
  if (call.code === "stopped") return { tone: "stop", text: t("run.call.stopped") };
  if (call.code === "interrupted") return { tone: "hold", text: t("run.call.interrupted") };
  if (call.end === "done") return done(call);
  const tone = call.end === "failed" || call.end === "refused" ? "stop" : "hold";
  return { tone, text: word("run.end", call.end ?? "") };
}

function done({ data, look, result }: Call): ReturnType<typeof ending> {
  if (at(data, "timed_out") === true) return { tone: "hold", text: t("run.call.timed_out") };
  const code = number(data, "exit_code");
  if (code !== undefined) return { tone: code === 0 ? "clear" : "stop", text: t("run.call.exit", { code }) };
  if (at(look, "diff")) return { tone: "clear", text: t("run.call.done") };
  const entries = list(data, "entries").length || number(data, "entries");
  if (entries) return { tone: "plain", text: t(Number(entries) === 1 ? "run.call.entry" : "run.call.entries", { n: entries }) };
  const lines = (result ?? "").trimEnd().split("\n").length;
  return { tone: "plain", text: result?.trim() ? t(lines === 1 ? "run.call.line" : "run.call.lines", { n: lines }) : t("run.call.nothing") };
}
