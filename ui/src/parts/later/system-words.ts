// Texts about the installation. They load together with the component that imports this file.
import { add } from "../../texts";
import { system } from "../../texts/en-system";

add(system);

export { t, word } from "../../texts";
