// What is frozen, as the server says it, and the dialog that freezes: one for every place that asks for it.
import { get } from "../../api/client";
import type { Frozen, System } from "../../api/types";
import { whenInboxChanges } from "../../state/inbox.svelte";
import { session } from "../../state/session.svelte";
import { plain } from "../plain";
import { t } from "./system-words";

/** A part of the installation: all of it where none is named. */
export type Part = Pick<Frozen, "run" | "workflow" | "agent">;
export type Kind = "all" | "run" | "workflow" | "agent";

export const halt = $state({
  freezes: [] as Frozen[],
  isRead: false,
  /** What the open dialog is about. */
  dialog: undefined as { what: "freeze"; part?: Part } | { what: "lift"; freeze: Frozen } | undefined,
});

export const mayHalt = (): boolean => session.me?.roles.some((role) => role === "admin" || role === "operator") === true;

export function take(system: System): void {
  halt.freezes = system.freezes ?? [];
  halt.isRead = true;
}

export async function readFreezes(): Promise<void> {
  // Away, or busy: it is read again with the connection.
  await get<System>("/v1/system").then(take, () => undefined);
}

/** Each freeze is an event of the inbox, for those who may read it. */
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

/** What holds a run up, or what one of its agents does. */
export function holding(run: string, workflow: string | undefined, agents: readonly string[]): Frozen[] {
  return halt.freezes.filter(
    (frozen) =>
      (!frozen.run || frozen.run === run) && (!frozen.workflow || frozen.workflow === workflow) && (!frozen.agent || agents.includes(frozen.agent)),
  );
}
