// The words of the installation, for whatever draws them: they are fetched with it.
import { add } from "../../texts";
import { system } from "../../texts/en-system";

add(system);

export { t, word } from "../../texts";
