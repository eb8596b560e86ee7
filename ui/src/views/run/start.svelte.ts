// A run that is about to be started: what is chosen and typed, and the one key under which it is sent.
import { post, Problem } from "../../api/client";
import type { Run, StartRun } from "../../api/types";
import { drafts } from "../../state/drafts";
import type { FieldError } from "../../parts/later/errors";
import { blank, field, fits, type Field } from "../card/edit/form";
import { parse } from "../card/edit/json";
import { data } from "../card/payload";
import { t } from "../texts";
import { WorkflowChoice } from "./workflow-choice.svelte";

const DRAFT = "new.";

/** Required texts that nobody has written. */
function missing(form: Field | undefined, value: unknown): FieldError[] {
  if (form?.type !== "group") return [];
  const given = data(value);
  return form.members
    .filter((member) => member.isRequired && member.field.type === "text" && String(given[member.name] ?? "").trim() === "")
    .map(({ name }) => ({ pointer: `/input/${name}`, message: t("new.missing", { name: name.replaceAll("_", " ") }) }));
}

export class Start extends WorkflowChoice {
  /** Of the chosen workflow's input; none where it can only be written as JSON. */
  form = $state.raw<Field>();
  value = $state<unknown>();
  raw = $state("{}");
  isSending = $state(false);
  /** The key was used up by a form like this one, such as in a tab that was copied. */
  isReused = $state(false);
  /** One for this form: a second click, or a try after a lost answer, starts no second run. */
  #key = crypto.randomUUID();

  /** Somebody has tried to start it: what is missing is marked until it is there. */
  #isTried = $state(false);
  readonly #missing = $derived<FieldError[]>(this.#isTried ? missing(this.form, this.value) : []);
  readonly errors = $derived<FieldError[]>([
    ...this.#missing,
    ...(this.problem instanceof Problem ? (this.problem.body.errors ?? []) : []),
  ]);
  readonly isWritten = $derived(this.form !== undefined || "value" in parse(this.raw));
  /** What has a field of its own. */
  readonly places = $derived(["/input", ...(this.hasAgents ? ["/config/workspace", "/config/model"] : [])]);

  override choose(name: string): void {
    super.choose(name);
    this.#isTried = false;
    const form = field(this.workflow?.input);
    const begun = parse(drafts.read(DRAFT + name) || "null");
    const draft = "value" in begun ? begun.value : undefined;
    this.form = form;
    this.value = form && fits(form, draft) ? draft : form && blank(form);
    this.raw = !form && draft ? JSON.stringify(draft, null, 2) : "{}";
  }

  get input(): unknown {
    if (this.form) return $state.snapshot(this.value);
    const parsed = parse(this.raw);
    return "value" in parsed ? parsed.value : undefined;
  }

  keep(): void {
    if (this.workflow && this.input !== undefined) drafts.keep(DRAFT + this.workflow.name, JSON.stringify(this.input));
  }

  /** The run that it became; nothing where it did not. */
  async send(): Promise<Run | undefined> {
    if (!this.workflow || this.isSending || !this.isWritten) return undefined;
    this.problem = undefined;
    this.#isTried = true;
    if (this.#missing.length > 0) return undefined;
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
