// What "for this session" would cover: the server's words, which the terminal has too.
import { data, list, text, texts } from "./payload";

export interface Covered {
  tool: string;
  workspace: string;
  /** Of a server that says it in words. */
  words?: string;
  /** Commands of this run that it would have covered. */
  past: string[];
  /** Calls that a person refused, which it does not cover. */
  refused: string[];
  /** None: every call of the tool. */
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
