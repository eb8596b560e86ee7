// Announcements for screen readers: the run's status, and new interrupts. Several changes that arrive together become
// one announcement.
import type { Interrupt, Run } from "../../api/types";
import { plain } from "../../parts/plain";
import { stateOf } from "../../parts/status";
import { t, word } from "../texts";

const GATHER_MS = 1_200;

export class Heard {
  text = $state("");
  /** The status that was announced last. The second member is the current status. */
  #said: string | undefined;
  #status = "";
  #known: Set<string> | undefined;
  #waiting: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  hear(run: Run | undefined, open: Interrupt[]): void {
    if (!run) return;
    const known = this.#known;
    // Interrupts that were open when the page opened are not announced.
    if (known) this.#waiting.push(...open.filter((each) => !known.has(each.id)).map((each) => plain(each.title)));
    this.#known = new Set(open.map((each) => each.id));
    this.#status = stateOf(run).name;
    this.#said ??= this.#status;
    if (this.#said !== this.#status || this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#say(), GATHER_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #say(): void {
    this.#timer = undefined;
    const parts = this.#waiting.map((title) => t("run.heard.waits", { title }));
    if (this.#said !== this.#status) parts.push(t("run.heard.status", { status: word("status", this.#status) }));
    this.#said = this.#status;
    this.#waiting = [];
    this.text = parts.join(" ");
  }
}
