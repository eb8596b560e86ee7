// The words of plans, for whatever draws them: they are fetched with it.
import { add } from "../../texts";
import { plan } from "../../texts/en-plan";

add(plan);

export { t, word } from "../../texts";
