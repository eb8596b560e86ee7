// What a person does with a plan: read its graph and its differences, write its list.
import { t } from "./texts.js";

export const graph = (place) => place.getByRole("group", { name: t("plan.graph"), exact: true });

/** How a subtask stands, as its box says it. */
export const box = (place, id) => graph(place).locator(`button[data-subtask="${id}"]`);

/** The rows of the list, in order. */
export const rows = (place) => place.getByRole("list", { name: t("card.plan.subtasks"), exact: true }).locator(":scope > li");

/** Fields of a row. */
export const field = (row, key) => row.getByLabel(t(key), { exact: true });

/** Where it is said what a row waits for. */
export const needs = (row) => row.getByRole("combobox", { name: t("plan.edit.needs") });

/** A row shall wait for another one. */
export async function wait(row, id) {
  await needs(row).fill(id);
  await needs(row).press("Enter");
  await needs(row).press("Escape");
  await after(row, id).waitFor();
}

/** It waits for it; pressed, no longer. */
export const after = (row, id) => row.getByRole("button", { name: t("plan.edit.needs.not", { id }), exact: true });

/** The ids, in order. */
export const ids = (place) => rows(place).evaluateAll((all) => all.map((row) => row.querySelector("input")?.value ?? row.querySelector("code")?.textContent));
