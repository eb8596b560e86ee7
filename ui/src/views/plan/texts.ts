// Texts about plans. They load together with the component that imports this file.
import { add } from "../../texts";
import { plan } from "../../texts/en-plan";

add(plan);

export { t, word } from "../../texts";
