// What the machine lets a command do that is approved with this card, and the files that it names to be run.
import { t } from "../../texts";
import { type Data, data, list, text, texts } from "./payload";

export interface Effect {
  words: string;
  /** More than commands usually may. */
  isUnusual: boolean;
}

/** Of a call's payload; nothing where it says nothing of an effect that this version knows. */
export function effectOf(payload: Data): Effect | undefined {
  const { effect } = payload;
  if (effect === "reads") return { words: t("card.does.reads"), isUnusual: false };
  if (effect === "workspace") return { words: t("card.does.workspace"), isUnusual: false };
  if (effect === "guarded") return { words: t("card.does.guarded"), isUnusual: true };
  const places = texts(data(data(effect).writes).places);
  return places.length > 0 ? { words: t("card.does.writes", { places: places.join(", ") }), isUnusual: false } : undefined;
}

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
