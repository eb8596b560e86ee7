// A conversation that is not opened yet: its workflow, working directory, and idempotency key.
import { post, Problem } from "../../api/client";
import type { OpenSession, Session, Workflow } from "../../api/types";
import type { FieldError } from "../../parts/later/errors";
import { data, list } from "../card/payload";
import { WorkflowChoice } from "../run/workflow-choice.svelte";
import { t } from "./texts";

export class Begin extends WorkflowChoice {
  name = $state("");
  isSending = $state(false);
  /** True if another form, for example in a duplicated tab, has already used the idempotency key. */
  isReused = $state(false);
  #key = crypto.randomUUID();
  /** True after the first attempt to open the conversation. Missing values are reported from then on. */
  #isTried = $state(false);
  /**
   * Error for a working directory that is not an absolute path. The server checks whether it exists when the first run
   * starts.
   */
  readonly #missing = $derived<FieldError[]>(
    this.#isTried && (this.workspace.trim() ? !this.workspace.trim().startsWith("/") : this.needsWorkspace)
      ? [{ pointer: "/config/workspace", message: t("session.begin.folder") }]
      : [],
  );
  readonly errors = $derived<FieldError[]>([
    ...this.#missing,
    ...(this.problem instanceof Problem ? (this.problem.body.errors ?? []) : []),
  ]);

  /** The default workflow: one agent to talk with. */
  override get usual(): string {
    return "copilot";
  }

  /**
   * Returns true for a workflow that can start with a message alone: it has native agents, and its only required input
   * is the task.
   */
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
