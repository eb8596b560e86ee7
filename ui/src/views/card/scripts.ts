// The files that a command names to be run.
import { type Data, data, list, text } from "./payload";

export interface Script {
  path: string;
  /** None where it is no text. */
  text?: string;
  isCut: boolean;
}

export function scripts(payload: Data): Script[] {
  return list(payload.scripts).map((each) => {
    const script = data(each);
    return { path: text(script, "path") ?? "", text: text(script, "text"), isCut: script.truncated === true };
  });
}
