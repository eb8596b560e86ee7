// Texts about conversations and runs. They load together with the component that imports this file.
import { session } from "../../texts/en-session";
import { add } from "../../texts";

add(session);

export { count, t, word } from "../texts";
