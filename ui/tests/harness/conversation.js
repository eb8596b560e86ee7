// A conversation with one agent. It looks, asks, notes the answer, and waits for a file before it reports the end.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { serve } from "./server.js";
import { t as text } from "./texts.js";

const workflow = `
name: tower
description: One agent that notes the wind.
agents:
  guide: {instructions: Note the wind., tools: [list_directory, ask_human, write_file, run_command]}
phases:
  - {id: work, kind: one_shot, agent: guide}
gates:
  rules:
    - {tools: [list_directory, ask_human, run_command], do: allow}
`;

const rehearsal = `
agents:
  guide:
    - text: I look around first.
      calls:
        - {as: tree, tool: list_directory, arguments: {}}
    - text: One thing I cannot know.
      calls:
        - {as: ask, tool: ask_human, arguments: {question: "Which way is the wind?", context: "It decides which runway is used.", choices: [from the north, from the south]}}
    - text: I note it.
      calls:
        - {as: note, tool: write_file, arguments: {path: wind.txt, content: "{{ results.ask }}\\n"}}
    - text: Now I listen to the tower.
      calls:
        - {as: listen, tool: run_command, arguments: {command: sh listen.sh}}
    # It was interrupted there.
    - text: Once more I listen.
      calls:
        - {as: again, tool: run_command, arguments: {command: sh listen.sh}}
    - text: And once more.
      calls:
        - {as: last, tool: run_command, arguments: {command: sh listen.sh}}
    - text: "The wind is {{ results.ask }}, and the tower has cleared us."
`;

/** Prints a line, then waits for a file. */
const listen = `
echo listening
until test -e cleared; do sleep 0.1; done
echo the tower has cleared us
`;

/** @param {import("node:test").TestContext} t */
export async function serveTower(t) {
  const server = await serve(t, { workflows: { tower: { workflow, rehearsal } } });
  writeFileSync(join(server.workspace, "listen.sh"), listen);
  return server;
}

/** Opens a session of the workflow through the API. */
export async function openTower(server) {
  const config = { workspace: server.workspace, model: "rehearsal" };
  return (await server.api("POST", "/v1/sessions", { workflow: "tower", config })).id;
}

/** Creates the file that the command waits for. */
export function clear(server) {
  writeFileSync(join(server.workspace, "cleared"), "");
}

/** Sends a message as a second client of the session. */
export const say = (server, session, words) => server.api("POST", `/v1/sessions/${session}/messages`, words);

/** Returns all messages of the session, as the API lists them. */
export const saidIn = async (server, session) => (await server.api("GET", `/v1/sessions/${session}/conversation?limit=200`)).items;

/** Returns the first open interrupt of the session; undefined if there is none. */
export async function openIn(server, session) {
  const { items } = await server.api("GET", `/v1/sessions/${session}/interrupts?limit=200`);
  return items.find(({ status }) => status === "open");
}

export const box = (page) => page.getByRole("textbox", { name: text("session.message"), exact: true });
export const turns = (page) => page.getByRole("group", { name: text("session.turns") });
