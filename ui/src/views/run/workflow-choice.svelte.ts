// Which workflow is meant, where its agents work and with which model: what a run and a conversation both begin with.
import { get } from "../../api/client";
import type { List, Workflow } from "../../api/types";

const WORKSPACE = "holdshort.workspace";
/** Tools that only ask; all others work in a folder. */
const ASKING = ["ask_human", "create_plan", "request_review"];

export class WorkflowChoice {
  workflows = $state.raw<Workflow[]>();
  workflow = $state.raw<Workflow>();
  workspace = $state(localStorage.getItem(WORKSPACE) ?? "");
  model = $state("");
  problem = $state.raw<unknown>();
  /** Tools and models are of use to agents that run here. */
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

  /** What most people come for: one agent in a folder. */
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

  /** As it is sent; nothing where nothing is said. */
  get config(): { workspace?: string; model?: string } | undefined {
    const workspace = this.hasAgents ? this.workspace.trim() : "";
    const model = this.hasAgents ? this.model.trim() : "";
    return workspace || model ? { ...(workspace && { workspace }), ...(model && { model }) } : undefined;
  }

  /** It was taken: the next one begins in the same folder. */
  keepWorkspace(): void {
    if (this.config?.workspace) localStorage.setItem(WORKSPACE, this.config.workspace);
  }
}
