// What those hear who do not see the page: what agents say while it is open. What was said before is no news.
import { plain } from "../../parts/plain";
import type { Conversation } from "./conversation.svelte";
import { t } from "./texts";

/** Of long words the beginning: the rest is read where it stands. */
const MOST = 300;

export class Spoken {
  text = $state("");
  #known: string | undefined;

  /** To be called with each change. */
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
