// Texts of views that load later. They load together with the component that imports this file.
import { add } from "../texts";
import { app } from "../texts/en-app";
import { card } from "../texts/en-card";
import { grants } from "../texts/en-grants";
import { run } from "../texts/en-run";
import { timeline } from "../texts/en-timeline";

add({ ...app, ...card, ...grants, ...run, ...timeline });

export { count, t, word } from "../texts";
