// Whose words the parts of a card are: the runtime's stand plain, an agent's are quoted with its name.
import type { Interrupt } from "../../api/types";
import { t } from "../../texts";
import { data } from "./payload";

export function speaker(interrupt: Interrupt): string {
  return interrupt.agent || t("card.agent");
}

/** Kinds whose title says how a step of ours stands. */
export const STAGES = ["checkpoint", "error", "continuation", "turn"];

/** Whether the title is the runtime's own sentence. */
export function isOurTitle({ origin, kind }: { origin?: string; kind: string }): boolean {
  return origin !== "external" && STAGES.includes(kind);
}

/** Whether the message is the runtime's own. */
export function isOurMessage(interrupt: Interrupt): boolean {
  if (interrupt.origin === "external") return false;
  switch (interrupt.kind) {
    case "error":
    case "unknown_outcome":
    case "continuation":
      return true;
    // Printed instead of asked through the tool: we say so.
    case "question":
      return data(interrupt.payload).call_id === undefined;
    default:
      return false;
  }
}
