// The active freezes as reported by the server, and the dialog that freezes or lifts.
import { get } from "../../api/client";
import type { Frozen, System } from "../../api/types";
import { whenInboxChanges } from "../../state/inbox.svelte";
import { session } from "../../state/session.svelte";
import { plain } from "../plain";
import { t } from "./system-words";

/** Target of a freeze. Without any member, the target is the whole installation. */
export type Part = Pick<Frozen, "run" | "workflow" | "agent">;
export type Kind = "all" | "run" | "workflow" | "agent";

export const halt = $state({
  freezes: [] as Frozen[],
  isRead: false,
  /** Action and target of the open dialog. */
  dialog: undefined as { what: "freeze"; part?: Part } | { what: "lift"; freeze: Frozen } | undefined,
});

export const mayHalt = (): boolean => session.me?.roles.some((role) => role === "admin" || role === "operator") === true;

export function take(system: System): void {
  halt.freezes = system.freezes ?? [];
  halt.isRead = true;
}

export async function readFreezes(): Promise<void> {
  // The server is unreachable or busy. The freezes are read again after the connection is restored.
  await get<System>("/v1/system").then(take, () => undefined);
}

/**
 * Reads the freezes again after each event about freezes. The inbox topic contains these events only for people who
 * may read all runs.
 */
export function followFreezes(): () => void {
  return whenInboxChanges(({ type }) => {
    if (type.endsWith("frozen")) void readFreezes();
  });
}

export function kindOf(part: Part): Kind {
  return part.run ? "run" : part.workflow ? "workflow" : part.agent ? "agent" : "all";
}

export function nameOf(part: Part): string {
  return plain(part.run ?? part.workflow ?? part.agent ?? "");
}

export function words(part: Part): string {
  return t(`freeze.${kindOf(part)}`, { name: nameOf(part) });
}

/** Returns the freezes that affect a run or one of its agents. */
export function holding(run: string, workflow: string | undefined, agents: readonly string[]): Frozen[] {
  return halt.freezes.filter(
    (frozen) =>
      (!frozen.run || frozen.run === run) && (!frozen.workflow || frozen.workflow === workflow) && (!frozen.agent || agents.includes(frozen.agent)),
  );
}
