// Texts of this part. They load together with it.
import { add } from "../../../../texts";
import { trial } from "../../../../texts/en-trial";

add(trial);

export { t, word } from "../../../../texts";
