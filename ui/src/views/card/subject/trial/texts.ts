// The words of this part, which are fetched with it.
import { add } from "../../../../texts";
import { trial } from "../../../../texts/en-trial";

add(trial);

export { t, word } from "../../../../texts";
