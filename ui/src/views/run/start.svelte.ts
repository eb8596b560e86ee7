// A run that is not started yet: the chosen and typed values, and the idempotency key.
import { post, Problem } from "../../api/client";
import type { Run, StartRun } from "../../api/types";
import { drafts } from "../../state/drafts";
import { type FieldError, placed } from "../../parts/later/errors";
import { Filling } from "../card/edit/filling.svelte";
import { field, type Field } from "../card/edit/form";
import { parse } from "../card/edit/json";
import { blank, fits, missing, restored } from "../card/edit/value";
import { t } from "../texts";
import { WorkflowChoice } from "./workflow-choice.svelte";

const DRAFT = "new.";

/** Returns one error per missing required value. */
function absent(form: Field | undefined, value: unknown): FieldError[] {
  const all = form ? missing(form, value, "/input") : [];
  return all.map(({ pointer, name }) => ({ pointer, message: t("new.missing", { name: name || t("new.input") }) }));
}

export class Start extends WorkflowChoice {
  /** Form of the chosen workflow's input. Undefined if the input can only be typed as JSON. */
  form = $state.raw<Field>();
  value = $state.raw<unknown>();
  readonly filling = new Filling();
  raw = $state("{}");
  isSending = $state(false);
  /** True if another form, for example in a duplicated tab, has already used the idempotency key. */
  isReused = $state(false);
  /**
   * Idempotency key of this form. It prevents a second run after a double click, or after a retry of a request whose
   * response was lost.
   */
  #key = crypto.randomUUID();

  readonly #absent = $derived<FieldError[]>(absent(this.form, this.value));
  /** Errors of the fields. Missing values are reported after the first attempt to start. */
  readonly errors = $derived<FieldError[]>([
    ...(this.filling.isTold ? this.#absent : []),
    ...(this.problem instanceof Problem ? (this.problem.body.errors ?? []).map(placed) : []),
  ]);
  readonly isWritten = $derived(this.form !== undefined || "value" in parse(this.raw));
  /** JSON pointers of the fields that show their own errors. */
  readonly places = $derived(["/input", ...(this.hasAgents ? ["/config/workspace", "/config/model"] : [])]);

  override choose(name: string): void {
    super.choose(name);
    this.filling.isTold = false;
    const drawn = field(this.workflow?.input);
    const form = drawn.type === "json" ? undefined : drawn;
    const begun = parse(drafts.read(DRAFT + name) || "null");
    const draft = "value" in begun && begun.value !== null ? begun.value : undefined;
    this.form = form;
    this.value = form && draft !== undefined && fits(form, restored(form, draft)) ? restored(form, draft) : form && blank(form);
    this.raw = !form && draft ? JSON.stringify(draft, null, 2) : "{}";
  }

  get input(): unknown {
    if (this.form) return this.value;
    const parsed = parse(this.raw);
    return "value" in parsed ? parsed.value : undefined;
  }

  keep(): void {
    if (this.workflow && this.input !== undefined) drafts.keep(DRAFT + this.workflow.name, JSON.stringify(this.input));
  }

  /** Starts the run. Returns undefined if the run did not start. */
  async send(): Promise<Run | undefined> {
    if (!this.workflow || this.isSending || !this.isWritten) return undefined;
    this.problem = undefined;
    this.filling.isTold = true;
    if (this.#absent.length > 0 || this.filling.isBroken) return undefined;
    this.isSending = true;
    this.isReused = false;
    const { config } = this;
    const body = {
      workflow: this.workflow.name,
      input: this.input as StartRun["input"],
      ...(config && { config }),
    } satisfies StartRun;
    try {
      const run = await post<Run>("/v1/runs", body, { "Idempotency-Key": this.#key });
      this.keepWorkspace();
      drafts.keep(DRAFT + this.workflow.name, "");
      return run;
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
