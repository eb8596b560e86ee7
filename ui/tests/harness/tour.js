// A rehearsed run that waits at many interrupts at once: every kind of card that a native run can show.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./eventually.js";
import { serve } from "./server.js";

const WORKFLOW = `
name: tour
agents:
  guide:
    instructions: Show everything.
    tools: [ask_human, edit_file, write_file, run_command, create_plan, request_review]
  planner: {instructions: Plan., tools: [create_plan]}
  unlucky: {instructions: Fail., tools: []}
  tireless: {instructions: Go on., tools: [list_directory]}
phases:
  - {id: show, kind: one_shot, agent: guide, needs: []}
  - {id: plan, kind: one_shot, agent: planner, needs: []}
  - {id: fail, kind: one_shot, agent: unlucky, needs: []}
  - {id: go_on, kind: one_shot, agent: tireless, needs: [], limits: {rounds: 1}}
  - {id: look, kind: checkpoint, message: "Is the ground clear?", needs: []}
gates:
  on_error: ask
  rules:
    - {tools: [list_directory, ask_human], do: allow}
limits: {attempts: 1, parallel: 5}
`;

const REHEARSAL = `
agents:
  guide:
    - text: Everything at once.
      calls:
        - {as: ask, tool: ask_human, arguments: {question: "Which way is the wind?", context: "It matters for the choice of the runway.", choices: [north, south]}}
        - {as: change, tool: edit_file, arguments: {path: runway.txt, old: "heading 27", new: "heading 09"}}
        - {as: make, tool: write_file, arguments: {path: notes/new.md, content: "# A new file"}}
        - {as: test, tool: run_command, arguments: {command: python3 -m unittest}}
        - {as: install, tool: run_command, arguments: {command: pip install wind-sock}}
        - {as: release, tool: request_review, arguments: {title: The announcement, content: "## Wind\\nFrom the **north**.", risk_level: high}}
    - text: That was all.
  planner:
    - text: My plan.
      calls:
        - as: plan
          tool: create_plan
          arguments:
            subtasks:
              - {id: look, description: Look at the wind, agent: planner, depends_on: []}
              - {id: turn, description: Turn the sock, agent: planner, depends_on: [look]}
    - text: Planned.
  unlucky:
    - error: {kind: rejected, message: the provider says no}
    - text: Better.
  tireless:
    - text: Again.
      calls:
        - {as: look, tool: list_directory, arguments: {}}
    - text: Done.
`;

/** A file with enough lines around the change for a diff. */
const RUNWAY = ["# Runways", "north: closed", "south: open", "", "heading 27", "", "lights: on", "wind: 12 kt", ""].join("\n");

/**
 * Starts a server with the run. Returns its open interrupts.
 * @param {import("node:test").TestContext} t
 */
export async function serveTour(t) {
  const server = await serve(t, { workflows: { tour: TOUR } });
  return { server, ...(await startTour(server)) };
}

/** The workflow's files, for a server that has other workflows, too. */
export const TOUR = { workflow: WORKFLOW, rehearsal: REHEARSAL };

/**
 * Starts the run, and waits until all its interrupts are open.
 * @param {import("./server.js").Server} server
 */
export async function startTour(server) {
  mkdirSync(join(server.workspace, "notes"));
  writeFileSync(join(server.workspace, "runway.txt"), RUNWAY);
  const config = { workspace: server.workspace, model: "rehearsal" };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "tour", input: { task: "Show everything." }, config });
  const open = await eventually("the tour to hold short everywhere", async () => {
    const { items } = await server.api("GET", `/v1/interrupts?run=${id}&status=open&limit=200`);
    return items.length === 10 && items;
  });
  return { id, open };
}
