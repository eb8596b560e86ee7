// The words of conversations, with those of runs, for whatever draws them: they are fetched with it.
import { session } from "../../texts/en-session";
import { add } from "../../texts";

add(session);

export { count, t, word } from "../texts";
