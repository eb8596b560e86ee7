// Announcements for screen readers: new texts of agents. Texts from before the page was opened are not announced.
import { plain } from "../../parts/plain";
import type { Conversation } from "./conversation.svelte";
import { t } from "./texts";

/** Maximum length of an announcement. The complete text is on the page. */
const MOST = 300;

export class Spoken {
  text = $state("");
  #known: string | undefined;

  /** Announces new texts. Must be called after each change of the conversation. */
  hear(conversation: Conversation): void {
    if (!conversation.isCaughtUp) return;
    const last = newest(conversation);
    const key = last ? `${last.run} ${last.seq}` : "";
    if (this.#known !== undefined && last && key !== this.#known) this.text = t("session.heard", { who: plain(last.agent), text: plain(last.text).slice(0, MOST) });
    this.#known = key;
  }
}

function newest({ runs }: Conversation): { run: string; seq: number; agent: string; text: string } | undefined {
  for (const run of runs.toReversed()) {
    const said = run.items.findLast((item) => item.type === "said");
    if (said?.type === "said") return { run: run.id, seq: said.seq, agent: said.agent, text: said.text };
  }
  return undefined;
}
