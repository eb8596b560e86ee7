// A run with a plan that people steer: four subtasks, and a checkpoint after each.
import { serve } from "./server.js";

const workflow = `
name: steered
agents:
  planner: {instructions: Plan.}
  engineer: {instructions: Build.}
  writer: {instructions: Write.}
phases:
  - {id: plan, kind: planning, agents: {planner: planner}}
  - {id: work, kind: control, agent: engineer, gates: {after_step: ask}}
limits: {plan_steps: 8, parallel: 2}
`;

const FIRST = [
  { id: "look", description: "Look at the data: what is in it, and what is wrong with it" },
  { id: "script", description: "Write a script that finds the wettest month of each station" },
  { id: "report", description: "Write the report", agent: "writer", depends_on: ["script"] },
];
export const SECOND = [
  FIRST[0],
  { ...FIRST[1], description: "Write a script that leaves out what was not measured, and finds the wettest month of each station" },
  { id: "check", description: "Check the numbers by hand", depends_on: ["look"] },
  { ...FIRST[2], depends_on: ["script", "check"] },
];

const text = (subtasks) => `    - text: 'My plan: ${JSON.stringify({ subtasks })}'`;
const rehearsal = `
agents:
  planner:
${[FIRST, SECOND, SECOND].map(text).join("\n")}
  engineer:
    - text: It is done.
    - text: It is done again.
  writer:
    - text: It is written.
`;

/**
 * Starts a server with a run that waits for the approval of its plan.
 * @param {import("node:test").TestContext} t
 */
export async function serveSteered(t) {
  const server = await serve(t, { workflows: { steered: { workflow, rehearsal } } });
  const config = { model: "rehearsal", workspace: server.workspace };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "steered", input: { task: "Which month was the wettest?" }, config });
  return { server, id };
}
