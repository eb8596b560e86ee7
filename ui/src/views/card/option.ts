// The tone and the key of an option, and whether it asks for confirmation.
import type { Offer, Interrupt, Resolution } from "../../api/types";
import { plain } from "../../parts/plain";
import { t, word } from "../../texts";
import { command, data } from "./payload";

export type Tone = "go" | "stop" | "plain";

/** Kinds for which a response is the requested answer, not a way around it. */
const ASKS_FOR_WORDS = ["question", "choice", "turn", "client_call"];

/** The option that a typed text means, by kind. The terminal uses the same. */
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

/** Returns true for the highlighted option: the first that lets work continue. A free choice has none. */
export function isMain(offer: Offer, interrupt: Interrupt): boolean {
  return interrupt.kind !== "choice" && offer === interrupt.options.find((option) => tone(option, interrupt) === "go");
}

export function isRisky(interrupt: Interrupt): boolean {
  return interrupt.risk.level === "high" || interrupt.risk.level === "critical";
}

/** Returns true if the work that the card shows continues. */
export function releases(offer: Offer): boolean {
  return offer.work === "continues";
}

function stops(offer: Offer): boolean {
  return offer.outcome === "rejected" || offer.outcome === "cancelled";
}

/** Returns the interrupt with only the options for a person who may not release its work. */
export function withoutReleases(interrupt: Interrupt): Interrupt {
  const options = interrupt.options.filter(({ work }) => work === "held" || work === "ended");
  return { ...interrupt, options };
}

/** Returns true if the server rejects the option during a freeze. An external agent continues as soon as it gets an
 *  answer, so only options that stop it are accepted. */
export function isFrozen(offer: Offer, interrupt: Interrupt): boolean {
  return Boolean(interrupt.frozen) && interrupt.origin === "external" && !stops(offer);
}

/** Returns true if an option ends the run. Its button carries the words of its effect. */
export function endsRun(offer: Offer): boolean {
  return offer.work === "ended";
}

/** Returns true if the option asks for confirmation. It does if it releases something risky, edited after its risk was
 *  judged, or not fully shown (`folded` parts). It also does if it skips or cancels the request. */
export function asksAgain(offer: Offer, interrupt: Interrupt, folded: number): boolean {
  if (offer.asks_again) return true;
  return letsGoOn(offer, interrupt) && (folded > 0 || asksAsItIs(interrupt) || replaces(offer, interrupt));
}

/** Returns true if work continues with what the card shows. */
export function letsGoOn(offer: Offer, interrupt: Interrupt): boolean {
  return releases(offer) || isAnswer(offer, interrupt);
}

/** Returns true if the request itself needs confirmation, edited or not. */
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

/** Returns the label of the button that sends an edit. It names the edited object. */
export function editLabel(interrupt: Interrupt, offer: Offer): string {
  if (keepsSome(offer)) return plain(offer.label);
  switch (interrupt.kind) {
    case "tool_approval":
      // An external agent runs its call itself, so the button only allows it.
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

/** Returns the options of the keys. No option of a free choice has a key. */
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

/** Returns true if the request asks for a text. The text then needs no chosen option. */
export function isAsked(interrupt: Interrupt): boolean {
  return ASKS_FOR_WORDS.includes(interrupt.kind);
}

/** Returns the option that sends the typed text. */
export function natural(interrupt: Interrupt): Offer | undefined {
  const { options, kind } = interrupt;
  return options.find((option) => option.id === NATURAL[kind]) ?? options.find((option) => option.needs_text);
}

/** Returns the label of an option, or its id if it is not listed. */
export function label(interrupt: Interrupt, id: string): string {
  return interrupt.options.find((option) => option.id === id)?.label ?? id;
}

/** Returns the label of the chosen option; empty if the outcome repeats it, such as *Approve* and *approved*. */
export function optionBeside(interrupt: Interrupt, { option, outcome }: Resolution): string {
  const name = option ? label(interrupt, option) : "";
  return word("outcome", outcome).toLowerCase().startsWith(name.toLowerCase()) ? "" : name;
}
