// Separates the runtime's text on a card from an agent's text. An agent's text is quoted with the agent's name.
import type { Interrupt } from "../../api/types";
import { t } from "../../texts";
import { data } from "./payload";

export function speaker(interrupt: Interrupt): string {
  return interrupt.agent || t("card.agent");
}

/** Kinds whose title describes the state of a native step. */
export const STAGES = ["checkpoint", "error", "continuation", "turn"];

/** Returns true if the runtime wrote the title. */
export function isOurTitle({ origin, kind }: { origin?: string; kind: string }): boolean {
  return origin !== "external" && STAGES.includes(kind);
}

/** Returns true if the runtime wrote the message. */
export function isOurMessage(interrupt: Interrupt): boolean {
  if (interrupt.origin === "external") return false;
  switch (interrupt.kind) {
    case "error":
    case "unknown_outcome":
    case "continuation":
      return true;
    // The agent printed the question as text instead of calling the tool. The message reports this.
    case "question":
      return data(interrupt.payload).call_id === undefined;
    default:
      return false;
  }
}
