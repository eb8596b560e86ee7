// A call in one line: its tool and its main argument.
import { DOT } from "../../parts/dot";
import { isObject, text } from "./facts";
import type { Call } from "./items";

/** Maximum number of characters of arguments in a line. */
const SHORT = 100;

export interface Name {
  tool: string;
  what: string;
  isCommand: boolean;
}

export function nameOf(call: Call): Name {
  const given = (key: string): string => text(call.arguments, key);
  const command = given("command");
  if (call.tool === "run_command" && command) return { tool: "$", what: command, isCommand: true };
  const [pattern, path] = [given("pattern"), given("path")];
  const what = pattern ? `“${pattern}”${path ? `${DOT}${path}` : ""}` : path || text(call.look, "path") || given("task") || brief(call.arguments);
  return { tool: call.tool, what, isCommand: false };
}

function brief(value: unknown): string {
  if (!isObject(value) || Object.keys(value).length === 0) return "";
  const parts = Object.entries(value).map(([key, each]) => `${key}: ${typeof each === "string" ? each : JSON.stringify(each)}`);
  const line = parts.join(DOT);
  return line.length > SHORT ? `${line.slice(0, SHORT)}…` : line;
}

/** Returns true if the line contains all arguments. */
export function saysAll(call: Call): boolean {
  if (!isObject(call.arguments)) return call.arguments == null;
  return Object.keys(call.arguments).every((key) => ["command", "path", "pattern"].includes(key));
}
