// Steps of a person on a plan: read its graph and its differences, and edit its list.
import { t } from "./texts.js";

export const graph = (place) => place.getByRole("group", { name: t("plan.graph"), exact: true });

/** Locates the box of a subtask, which shows its status. */
export const box = (place, id) => graph(place).locator(`button[data-subtask="${id}"]`);

/** Locates the rows of the list, in order. */
export const rows = (place) => place.getByRole("list", { name: t("card.plan.subtasks"), exact: true }).locator(":scope > li");

/** Locates a field of a row. */
export const field = (row, key) => row.getByLabel(t(key), { exact: true });

/** Locates the field with the dependencies of a row. */
export const needs = (row) => row.getByRole("combobox", { name: t("plan.edit.needs") });

/** Adds a dependency to a row. */
export async function wait(row, id) {
  await needs(row).fill(id);
  await needs(row).press("Enter");
  await needs(row).press("Escape");
  await after(row, id).waitFor();
}

/** Locates the button of a dependency, which removes it. */
export const after = (row, id) => row.getByRole("button", { name: t("plan.edit.needs.not", { id }), exact: true });

/** Returns the ids of the rows, in order. */
export const ids = (place) => rows(place).evaluateAll((all) => all.map((row) => row.querySelector("input")?.value ?? row.querySelector("code")?.textContent));
