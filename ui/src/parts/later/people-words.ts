// The words of people and of who decides, for whatever draws them: they are fetched with it.
import { add } from "../../texts";
import { people } from "../../texts/en-people";

add(people);

export { t, word } from "../../texts";
