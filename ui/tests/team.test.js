// The page of a run shows its agents, their waits for each other, and the durations.
import test from "node:test";
import { person } from "./harness/browser.js";
import { serve } from "./harness/server.js";
import { shoot } from "./harness/shots.js";
import { t as text } from "./harness/texts.js";
import { assertSound } from "./harness/views.js";

const workflow = `
name: team
agents:
  asker: {instructions: Ask., tools: [ask_human]}
  worker: {instructions: Work., tools: [run_command]}
  last: {instructions: Sum up., tools: []}
phases:
  - {id: asker, kind: one_shot, agent: asker, needs: []}
  - {id: load, kind: one_shot, agent: worker, needs: []}
  - {id: last, kind: one_shot, agent: last, needs: [asker, load]}
gates:
  rules: [{tools: [run_command], do: allow}]
`;
const rehearsal = `
agents:
  asker:
    - text: I begin.
      calls: [{tool: ask_human, arguments: {question: "Were you ill?"}}]
    - text: Noted.
  worker:
    - text: I begin.
      calls: [{tool: run_command, arguments: {command: "sleep 600"}}]
    - text: Done.
  last:
    - text: All is done.
`;

test("who works and who waits for whom", async (t) => {
  const server = await serve(t, { workflows: { team: { workflow, rehearsal } } });
  const config = { workspace: server.workspace, model: "rehearsal" };
  const { id } = await server.api("POST", "/v1/runs", { workflow: "team", input: { task: "Look." }, config });

  const page = await person(t, server);
  await page.goto(`/runs/${id}`);
  const team = page.getByRole("region", { name: text("run.team") });
  const part = (name) => team.getByRole("listitem").filter({ hasText: name });
  await part("asker").getByText("waiting for a person").waitFor();
  await part("worker").getByText("running run_command").waitFor();
  await part("worker").getByText(/^\d+ s/).waitFor();
  await part("last").getByText("starts after asker, load").waitFor();
  await assertSound(page, "who works on a run");
  await shoot(page, "team");

  const [asked] = (await server.api("GET", `/v1/interrupts?run=${id}&status=open`)).items;
  await server.api("POST", `/v1/interrupts/${asked.id}/decisions`, { option: "answer", text: "No." });
  await part("last").getByText("starts after load").waitFor();
});
