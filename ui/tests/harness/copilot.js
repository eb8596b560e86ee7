// A copilot in a conversation. Its router asks for a direction, a planner plans, and the person has a turn after each
// round.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { serve } from "./server.js";

const workflow = `
name: helper
description: Helps.
agents:
  router: {instructions: Route.}
  planner: {instructions: Plan.}
  pair: {instructions: Work., tools: [write_file, invoke_planning_phase]}
phases:
  - {id: work, kind: copilot, agent: pair, routing: balanced, router: router, conversational: true}
gates:
  plan: ask
`;

const ways = {
  route_type: "propose",
  complexity: 60,
  proposals: [
    { title: "By name", description: "As a directory lists them.", pros: ["easy to find"], cons: ["no order of time"] },
    { title: "By day", description: "The newest first.", pros: ["what is new stands on top"], cons: [] },
  ],
};
const direct = { route_type: "direct", complexity: 20 };
export const PLAN = { subtasks: [{ id: "sort", description: "Sort the lines of notes.txt", agent: "pair" }] };

const rehearsal = `
agents:
  router:
    - text: '${JSON.stringify(ways)}'
    - text: '${JSON.stringify(direct)}'
  planner:
    - text: |-
        One step.
        \`\`\`json
        ${JSON.stringify(PLAN)}
        \`\`\`
  pair:
    - text: I have it planned.
      calls:
        - {tool: invoke_planning_phase, arguments: {task: sort the notes}}
    - text: I write it down.
      calls:
        - {tool: write_file, arguments: {path: sorted.txt, content: "a\\n"}}
    - text: "They are sorted."
    - text: "You said: {{ messages | join(' ') }}"
`;

/** @param {import("node:test").TestContext} t */
export async function serveCopilot(t) {
  const server = await serve(t, { workflows: { helper: { workflow, rehearsal } } });
  writeFileSync(join(server.workspace, "notes.txt"), "b\na\n");
  return server;
}

/** Opens a session of the workflow through the API. */
export async function openCopilot(server) {
  const config = { workspace: server.workspace, model: "rehearsal" };
  return (await server.api("POST", "/v1/sessions", { workflow: "helper", config })).id;
}
