// What a person is about to say in a session: kept in this tab until it has been said, and said once.
import { post } from "../../api/client";
import type { Delivered } from "../../api/types";
import { drafts } from "../../state/drafts";

/** Words that were sent and the key they were sent under: the same words go out under the same key again. */
interface Attempt {
  text: string;
  key: string;
}

export class Outgoing {
  text = $state("");
  isSending = $state(false);
  /** Why it was not said, or not known to be. */
  problem = $state.raw<unknown>();
  readonly #path: string;
  readonly #draft: string;
  readonly #attempt: string;

  constructor(session: string) {
    this.#path = `/v1/sessions/${encodeURIComponent(session)}/messages`;
    this.#draft = `${session}.message`;
    this.#attempt = `${session}.attempt`;
    this.text = drafts.read(this.#draft);
  }

  /** To be called with each change of the text. */
  keep(): void {
    drafts.keep(this.#draft, this.text);
  }

  async send(): Promise<Delivered | undefined> {
    const text = this.text;
    if (this.isSending || !text.trim()) return undefined;
    this.isSending = true;
    this.problem = undefined;
    const attempt = this.#begin(text);
    try {
      const delivered = await post<Delivered>(this.#path, { text }, { "Idempotency-Key": attempt.key });
      // What was typed meanwhile is of the next one.
      this.text = this.text.startsWith(text) ? this.text.slice(text.length).trimStart() : this.text;
      drafts.keep(this.#attempt, "");
      this.keep();
      return delivered;
    } catch (problem) {
      this.problem = problem;
      return undefined;
    } finally {
      this.isSending = false;
    }
  }

  /** Kept before it goes out: after a reload nobody could know whether it was heard. */
  #begin(text: string): Attempt {
    const known = read(drafts.read(this.#attempt));
    if (known?.text === text) return known;
    const attempt = { text, key: crypto.randomUUID() };
    drafts.keep(this.#attempt, JSON.stringify(attempt));
    return attempt;
  }
}

function read(kept: string): Attempt | undefined {
  try {
    return (JSON.parse(kept || "null") as Attempt | null) ?? undefined;
  } catch {
    return undefined;
  }
}
