// The workflow, working directory and model with which a new run or conversation starts.
import { get } from "../../api/client";
import type { List, Workflow } from "../../api/types";

const WORKSPACE = "holdshort.workspace";
/** Tools that only ask people. All other tools need a working directory. */
const ASKING = ["ask_human", "create_plan", "request_review"];

export class WorkflowChoice {
  workflows = $state.raw<Workflow[]>();
  workflow = $state.raw<Workflow>();
  workspace = $state(localStorage.getItem(WORKSPACE) ?? "");
  model = $state("");
  problem = $state.raw<unknown>();
  /** True if Holdshort runs agents of the workflow. Tools and models are relevant only in this case. */
  readonly hasAgents = $derived((this.workflow?.agents.length ?? 0) > 0);
  readonly needsWorkspace = $derived((this.workflow?.tools ?? []).some((tool) => !ASKING.includes(tool)));

  async load(): Promise<void> {
    try {
      const page = await get<List<Workflow>>("/v1/workflows");
      this.workflows = page.items.filter((each) => this.isOffered(each));
      this.problem = undefined;
      const { workflows: all } = this;
      const first = all.find((each) => each.name === this.usual) ?? all.find((each) => each.agents.length > 0) ?? all[0];
      if (first && !this.workflow) this.choose(first.name);
    } catch (problem) {
      this.problem = problem;
    }
  }

  /** The default workflow: one agent in a working directory. */
  get usual(): string {
    return "pair";
  }

  isOffered(_: Workflow): boolean {
    return true;
  }

  choose(name: string): void {
    this.workflow = this.workflows?.find((each) => each.name === name);
    this.problem = undefined;
  }

  /** Returns the configuration to send. Undefined if nothing is configured. */
  get config(): { workspace?: string; model?: string } | undefined {
    const workspace = this.hasAgents ? this.workspace.trim() : "";
    const model = this.hasAgents ? this.model.trim() : "";
    return workspace || model ? { ...(workspace && { workspace }), ...(model && { model }) } : undefined;
  }

  /**
   * Remembers the working directory for the next start. Call this function after the server has accepted the
   * directory.
   */
  keepWorkspace(): void {
    if (this.config?.workspace) localStorage.setItem(WORKSPACE, this.config.workspace);
  }
}
