// What a person does with a plan: read its graph and its differences, write its list.
import { t } from "./texts.js";

export const graph = (place) => place.getByRole("group", { name: t("plan.graph"), exact: true });

/** How a subtask stands, as its box says it. */
export const box = (place, id) => graph(place).locator(`button[data-subtask="${id}"]`);

/** The rows of the list, in order. */
export const rows = (place) => place.getByRole("list", { name: t("card.plan.subtasks"), exact: true }).locator(":scope > li");

/** Fields of a row. */
export const field = (row, key) => row.getByLabel(t(key), { exact: true });

/** Whether a row waits for another one. */
export const after = (row, id) => row.getByRole("group", { name: t("plan.edit.needs") }).getByRole("checkbox", { name: id, exact: true });

/** The ids, in order. */
export const ids = (place) => rows(place).evaluateAll((all) => all.map((row) => row.querySelector("input")?.value ?? row.querySelector("code")?.textContent));
