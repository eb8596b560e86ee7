// Texts about people and approvers. They load together with the component that imports this file.
import { add } from "../../texts";
import { people } from "../../texts/en-people";

add(people);

export { t, word } from "../../texts";
