// Texts of views that load later. They load together with the component that imports this file.
import { add } from "../texts";
import { later } from "../texts/en-later";

add(later);

export { count, t, word } from "../texts";
