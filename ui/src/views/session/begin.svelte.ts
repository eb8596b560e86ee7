// A conversation that is about to be begun: its workflow, where it works, and the one key under which it is opened.
import { post, Problem } from "../../api/client";
import type { OpenSession, Session, Workflow } from "../../api/types";
import type { FieldError } from "../../parts/later/errors";
import { data, list } from "../card/payload";
import { WorkflowChoice } from "../run/workflow-choice.svelte";
import { t } from "./texts";

export class Begin extends WorkflowChoice {
  name = $state("");
  isSending = $state(false);
  /** The key was used up by a form like this one, such as in a tab that was copied. */
  isReused = $state(false);
  #key = crypto.randomUUID();
  /** Somebody has tried to begin: what is missing is marked until it is there. */
  #isTried = $state(false);
  /** Whether the folder is there is looked at when the first run begins; what is no folder at all is said here. */
  readonly #missing = $derived<FieldError[]>(
    this.#isTried && (this.workspace.trim() ? !this.workspace.trim().startsWith("/") : this.needsWorkspace)
      ? [{ pointer: "/config/workspace", message: t("session.begin.folder") }]
      : [],
  );
  readonly errors = $derived<FieldError[]>([
    ...this.#missing,
    ...(this.problem instanceof Problem ? (this.problem.body.errors ?? []) : []),
  ]);

  /** One agent to talk with. */
  override get usual(): string {
    return "copilot";
  }

  /** Words alone can begin it: agents that run here, and no input beside the task. */
  override isOffered({ agents, input }: Workflow): boolean {
    return agents.length > 0 && list(data(input).required).every((name) => name === "task");
  }

  async send(): Promise<Session | undefined> {
    if (!this.workflow || this.isSending) return undefined;
    this.#isTried = true;
    if (this.#missing.length > 0) return undefined;
    this.isSending = true;
    this.isReused = false;
    this.problem = undefined;
    const { config } = this;
    const name = this.name.trim();
    const body = { workflow: this.workflow.name, ...(name && { name }), ...(config && { config }) } satisfies OpenSession;
    try {
      const session = await post<Session>("/v1/sessions", body, { "Idempotency-Key": this.#key });
      this.keepWorkspace();
      return session;
    } catch (problem) {
      this.problem = problem;
      this.isReused = problem instanceof Problem && problem.code === "idempotency_key_reused";
      if (this.isReused) this.#key = crypto.randomUUID();
      return undefined;
    } finally {
      this.isSending = false;
    }
  }
}
