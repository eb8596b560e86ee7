// Properties of an option: its tone, its key, and whether it needs confirmation.
import type { Offer, Interrupt, Resolution } from "../../api/types";
import { plain } from "../../parts/plain";
import { t, word } from "../../texts";
import { command, data } from "./payload";

export type Tone = "go" | "stop" | "plain";

/** Kinds that request a response. For these kinds, a response does not replace the request. */
const ASKS_FOR_WORDS = ["question", "choice", "turn", "client_call"];

/** Map from the kind to the option that a typed text belongs to. The terminal uses the same options. */
const NATURAL: Record<string, string> = {
  question: "answer",
  choice: "custom",
  turn: "submit",
  escalation: "instruct",
  plan_approval: "revise",
  tool_approval: "reject",
  checkpoint: "redo",
  client_call: "result",
};

function isAnswer(offer: Offer, interrupt: Interrupt): boolean {
  return offer.effect === "respond" && ASKS_FOR_WORDS.includes(interrupt.kind);
}

export function tone(offer: Offer, interrupt: Interrupt): Tone {
  if (stops(offer)) return "stop";
  if (offer.needs_edit) return "plain";
  return offer.outcome === "approved" || isAnswer(offer, interrupt) ? "go" : "plain";
}

/**
 * Returns true for the highlighted option: the first option that lets work continue. A free choice has no highlighted
 * option.
 */
export function isMain(offer: Offer, interrupt: Interrupt): boolean {
  return interrupt.kind !== "choice" && offer === interrupt.options.find((option) => tone(option, interrupt) === "go");
}

export function isRisky(interrupt: Interrupt): boolean {
  return interrupt.risk.level === "high" || interrupt.risk.level === "critical";
}

/** Returns true if the option lets the agent's work continue. */
export function releases(offer: Offer): boolean {
  return offer.work === "continues";
}

function stops(offer: Offer): boolean {
  return offer.outcome === "rejected" || offer.outcome === "cancelled";
}

/** Returns the interrupt without the options that let its work continue, for a person who may not release this work. */
export function withoutReleases(interrupt: Interrupt): Interrupt {
  const options = interrupt.options.filter(({ work }) => work === "held" || work === "ended");
  return { ...interrupt, options };
}

/**
 * Returns true if the server rejects the option during a freeze. An external agent continues as soon as it gets a
 * response, so only options that stop the agent are accepted.
 */
export function isFrozen(offer: Offer, interrupt: Interrupt): boolean {
  return Boolean(interrupt.frozen) && interrupt.origin === "external" && !stops(offer);
}

/** Returns true if an option ends the run. Its button describes this effect. */
export function endsRun(offer: Offer): boolean {
  return offer.work === "ended";
}

/**
 * Returns true if the option needs confirmation: if it releases work that is risky, or edited after its risk was
 * judged, or not completely shown (`folded` is the number of folded parts), or if it skips or cancels the request.
 */
export function asksAgain(offer: Offer, interrupt: Interrupt, folded: number): boolean {
  if (offer.asks_again) return true;
  return letsGoOn(offer, interrupt) && (folded > 0 || asksAsItIs(interrupt) || replaces(offer, interrupt));
}

/** Returns true if the option lets the agent's work continue or answers the agent's question. */
export function letsGoOn(offer: Offer, interrupt: Interrupt): boolean {
  return releases(offer) || isAnswer(offer, interrupt);
}

/** Returns true if the request itself needs confirmation, even without an edit. */
export function asksAsItIs(interrupt: Interrupt): boolean {
  return isRisky(interrupt) || Boolean(interrupt.unseen);
}

/** Returns true if the option replaces the request. An answer replaces nothing. */
function replaces(offer: Offer, interrupt: Interrupt): boolean {
  return offer.needs_edit === true && interrupt.kind !== "question";
}

/** Returns true if the option's edit is the list of paths whose changes are kept. */
export function keepsSome(offer: Offer): boolean {
  return offer.effect === "proceed_with_some";
}

/** Returns the label of the button that sends an edit. The label names what was edited. */
export function editLabel(interrupt: Interrupt, offer: Offer): string {
  if (keepsSome(offer)) return plain(offer.label);
  switch (interrupt.kind) {
    case "tool_approval":
      // An external agent runs its call itself, so this button only allows the call.
      if (interrupt.origin === "external") return t("card.edit.send.call");
      if (command(interrupt) !== undefined) return t("card.edit.send.command");
      return t("diff" in data(interrupt.payload) ? "card.edit.send.change" : "card.edit.send.call");
    case "plan_approval":
      return t("card.edit.send.plan");
    case "review":
      return t("card.edit.send.review");
    case "checkpoint":
      return t("card.edit.send.checkpoint");
    default:
      return plain(offer.label);
  }
}

export type Keys = { a?: Offer; e?: Offer; r?: Offer };

/** Returns the option for each key. The options of a free choice have no keys. */
export function keys(interrupt: Interrupt): Keys {
  const { options } = interrupt;
  const isFree = interrupt.kind === "choice";
  return {
    a: isFree
      ? undefined
      : options.find((option) => tone(option, interrupt) === "go" && !option.needs_text && !option.needs_edit),
    e: options.find((option) => option.needs_edit && !keepsSome(option)),
    r: options.find((option) => option.outcome === "rejected" && !option.needs_text && !option.needs_edit),
  };
}

/** Returns true if the request asks for a text. The text can then be sent without choosing an option. */
export function isAsked(interrupt: Interrupt): boolean {
  return ASKS_FOR_WORDS.includes(interrupt.kind);
}

/** Returns the option that sends the typed text. */
export function natural(interrupt: Interrupt): Offer | undefined {
  const { options, kind } = interrupt;
  return options.find((option) => option.id === NATURAL[kind]) ?? options.find((option) => option.needs_text);
}

/** Returns the label of an option, or its id if the option is not listed. */
export function label(interrupt: Interrupt, id: string): string {
  return interrupt.options.find((option) => option.id === id)?.label ?? id;
}

/**
 * Returns the label of the chosen option. Empty if the outcome has the same meaning, such as *Approve* and *approved*.
 */
export function optionBeside(interrupt: Interrupt, { option, outcome }: Resolution): string {
  const name = option ? label(interrupt, option) : "";
  return word("outcome", outcome).toLowerCase().startsWith(name.toLowerCase()) ? "" : name;
}
