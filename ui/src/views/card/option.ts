// What an option means for the eye and for the hand: its tone, its key, whether it asks once more.
import type { Offer, Interrupt, Resolution } from "../../api/types";
import { plain } from "../../parts/plain";
import { t, word } from "../../texts";
import { command, data } from "./payload";

export type Tone = "go" | "stop" | "plain";

/** Kinds to which a response is what was asked for, not a way around it. */
const ASKS_FOR_WORDS = ["question", "choice", "turn", "client_call"];

/** The option that words alone mean; the same in the terminal. */
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

/** The one that stands out: the first that lets it go on. Of a free choice none does. */
export function isMain(offer: Offer, interrupt: Interrupt): boolean {
  return interrupt.kind !== "choice" && offer === interrupt.options.find((option) => tone(option, interrupt) === "go");
}

export function isRisky(interrupt: Interrupt): boolean {
  return interrupt.risk.level === "high" || interrupt.risk.level === "critical";
}

/** Returns true if the work that the card shows goes on. */
export function releases(offer: Offer): boolean {
  return offer.work === "continues";
}

function stops(offer: Offer): boolean {
  return offer.outcome === "rejected" || offer.outcome === "cancelled";
}

/** Returns the interrupt for a person who may not let its work go on. */
export function withoutReleases(interrupt: Interrupt): Interrupt {
  const options = interrupt.options.filter(({ work }) => work === "held" || work === "ended");
  return { ...interrupt, options };
}

/** Whether the server refuses it while its agent is frozen: one that runs elsewhere goes on as soon as it is told, so only
 *  what stops it is taken. */
export function isFrozen(offer: Offer, interrupt: Interrupt): boolean {
  return Boolean(interrupt.frozen) && interrupt.origin === "external" && !stops(offer);
}

/** Returns true if an option ends the run. Its button carries the words of its effect. */
export function endsRun(offer: Offer): boolean {
  return offer.work === "ended";
}

/** Returns true if an option asks once more before it is sent: it releases something that is risky, that was not shown
 *  (`folded` parts of the card), or that was edited after its risk was judged; or it skips or cancels what was asked. */
export function asksAgain(offer: Offer, interrupt: Interrupt, folded: number): boolean {
  if (offer.asks_again) return true;
  return letsGoOn(offer, interrupt) && (folded > 0 || asksAsItIs(interrupt) || replaces(offer, interrupt));
}

/** Returns true if work goes on with what the card shows. */
export function letsGoOn(offer: Offer, interrupt: Interrupt): boolean {
  return releases(offer) || isAnswer(offer, interrupt);
}

/** What was asked asks once more, edited or not. */
export function asksAsItIs(interrupt: Interrupt): boolean {
  return isRisky(interrupt) || Boolean(interrupt.unseen);
}

/** Whether it sends something else than what was asked. An answer takes the place of nothing. */
function replaces(offer: Offer, interrupt: Interrupt): boolean {
  return offer.needs_edit === true && interrupt.kind !== "question";
}

/** Its edit is the list of the paths whose changes are kept. */
export function keepsSome(offer: Offer): boolean {
  return offer.effect === "proceed_with_some";
}

/** What sends an edit: names what is sent, not how it was opened. */
export function editLabel(interrupt: Interrupt, offer: Offer): string {
  if (keepsSome(offer)) return plain(offer.label);
  switch (interrupt.kind) {
    case "tool_approval":
      // An agent elsewhere runs its call itself, whatever it says of it.
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

/** Which options the keys mean. Nothing of a free choice goes by a key. */
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

/** Whether words are what was asked for: they need no option to be chosen for them. */
export function isAsked(interrupt: Interrupt): boolean {
  return ASKS_FOR_WORDS.includes(interrupt.kind);
}

/** The option that sends what is typed. */
export function natural(interrupt: Interrupt): Offer | undefined {
  const { options, kind } = interrupt;
  return options.find((option) => option.id === NATURAL[kind]) ?? options.find((option) => option.needs_text);
}

/** The label of an option, or its id where it is not listed. */
export function label(interrupt: Interrupt, id: string): string {
  return interrupt.options.find((option) => option.id === id)?.label ?? id;
}

/** Returns the label of the option that was taken; nothing if the outcome says the same, such as *Approve* and *approved*. */
export function optionBeside(interrupt: Interrupt, { option, outcome }: Resolution): string {
  const name = option ? label(interrupt, option) : "";
  return word("outcome", outcome).toLowerCase().startsWith(name.toLowerCase()) ? "" : name;
}
