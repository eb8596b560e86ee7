// Steps of a person on a card: open it, choose, and read the outcome.
import { t } from "./texts.js";

/** Locates the open card. */
export const card = (page) => page.getByRole("article");

/** Locates its text box. */
export const words = (page) => card(page).getByRole("textbox", { name: /^(Your answer|Comment)$/ });

/** Locates the bar with the options. */
const bar = (page) => card(page).getByRole("group", { name: t("card.options") });

/** Locates an option by the start of its label. An external option's label continues with its effect. */
export const option = (page, label) => bar(page).getByRole("button", { name: new RegExp(`^${label}(?![,\\w]| for this| some of)`) });

/** Opens the menu of the options if it has this option. Returns the option. */
export async function find(page, label) {
  const more = bar(page).locator("[data-more]");
  await option(page, label).or(more).first().waitFor();
  if (!(await option(page, label).isVisible()) && (await more.getAttribute("aria-expanded")) === "false") await more.click();
  return option(page, label);
}

/** Presses an option, in the bar or in its menu. */
export const choose = async (page, label) => (await find(page, label)).click();

/**
 * Sends an edit: presses its button, then confirms the shown edit.
 * @param {import("playwright-core").Page} page
 * @param {string} what the end of the text key: `command`, `plan`
 */
export async function sendEdit(page, what) {
  const name = t(`card.edit.send.${what}`);
  await choose(page, name);
  await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
}

/** Locates the outcome, which is a heading of the card. */
export const outcome = (page, text) => card(page).getByRole("heading", { level: 3, name: text });

/** Locates the list of open interrupts. */
export const inbox = (page) => page.getByRole("region", { name: t("inbox.list") });

/**
 * Opens an interrupt from the list.
 * @param {import("playwright-core").Page} page
 * @param {{id: string, kind: string}} interrupt
 */
export async function open(page, interrupt) {
  await inbox(page).locator(`a[href="/inbox/${interrupt.id}"]`).click();
  await shown(page, interrupt);
}

/** Opens an interrupt by its address. */
export async function visitCard(page, interrupt) {
  await page.goto(`/inbox/${interrupt.id}`);
  await shown(page, interrupt);
}

/** Locates an option after the whole card was shown. Before that, the app asks for confirmation. */
export const optionOfAll = (page, label) => option(page, label).filter({ hasNotText: /not shown/ });

/** Waits until the card of this interrupt is open. */
export function shown(page, { id, kind }) {
  return page.locator(`article[data-interrupt="${id}"] > header`).getByText(t(`kind.${kind}`), { exact: true }).waitFor();
}
