// Texts about trials. They load together with the component that imports this file.
import { add } from "../../../../texts";
import { trial } from "../../../../texts/en-trial";

add(trial);

export { t, word } from "../../../../texts";
