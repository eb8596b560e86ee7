// The next message in a session. It is stored in this tab until it is delivered, and it is delivered only once.
import { post } from "../../api/client";
import type { Delivered } from "../../api/types";
import { drafts } from "../../state/drafts";

/** A sent text and its idempotency key. A retry with the same text uses the same key. */
interface Attempt {
  text: string;
  key: string;
}

export class Outgoing {
  text = $state("");
  isSending = $state(false);
  /** The reason why the last message failed, or why its delivery is uncertain. */
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

  /** Stores the draft. Must be called after each change of the text. */
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
      // Text that was typed during the request belongs to the next message.
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

  /**
   * Returns the attempt for a text. The attempt is stored before the request, so that a retry after a reload uses the
   * same key.
   */
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
