// The script files that a command runs.
import { type Data, data, list, text } from "./payload";

export interface Script {
  path: string;
  /** Content of the script. Undefined if the file is not text. */
  text?: string;
  isCut: boolean;
}

export function scripts(payload: Data): Script[] {
  return list(payload.scripts).map((each) => {
    const script = data(each);
    return { path: text(script, "path") ?? "", text: text(script, "text"), isCut: script.truncated === true };
  });
}
