// The scope of an approval for this session. The text comes from the server, so that the terminal shows the same text.
import { data, list, text, texts } from "./payload";

export interface Covered {
  tool: string;
  workspace: string;
  /** Text of the scope, if the server sends it. */
  words?: string;
  /** Commands of this run that the grant would have covered. */
  past: string[];
  /** Calls that a person refused. The grant does not cover them. */
  refused: string[];
  /** Covered commands. Empty if the grant covers every call of the tool. */
  commands: { line: string; onlyReads: boolean; files: string[] }[];
}

export function covered(value: unknown): Covered | undefined {
  const grant = data(value);
  const tool = text(grant, "tool");
  const workspace = text(grant, "workspace");
  if (tool === undefined || workspace === undefined) return undefined;
  const commands = list(grant.commands).map((each) => {
    const command = data(each);
    const line = [text(command, "program"), text(command, "subcommand"), "…"].filter(Boolean).join(" ");
    return { line, onlyReads: command.writes === false, files: texts(command.files) };
  });
  return { tool, workspace, commands, words: text(grant, "words"), past: texts(grant.past), refused: texts(grant.refused) };
}
