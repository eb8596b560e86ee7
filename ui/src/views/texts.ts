// The words of the places that are fetched later, for whatever draws them: they are fetched with it.
import { add } from "../texts";
import { later } from "../texts/en-later";

add(later);

export { count, t, word } from "../texts";
