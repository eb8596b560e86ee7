// What a person does with a card: open it, choose, read how it ended.
import { t } from "./texts.js";

/** The card that is open. */
export const card = (page) => page.getByRole("article");

/** Its text box. */
export const words = (page) => card(page).getByRole("textbox", { name: /^(Your answer|Your words)$/ });

/** An option, by how its label begins: an external one says beside it what it does. */
export const option = (page, label) =>
  card(page)
    .getByRole("group", { name: t("card.options") })
    .getByRole("button", { name: new RegExp(`^${label}(?![,\\w]| for this| some of)`) });

/**
 * Sends an edit: its button, and once more where what was edited is shown.
 * @param {import("playwright-core").Page} page
 * @param {string} what the end of its text's key: `command`, `plan`
 */
export async function sendEdit(page, what) {
  const name = t(`card.edit.send.${what}`);
  await option(page, name).click();
  await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
}

/** How it ended, as a heading of the card. */
export const outcome = (page, text) => card(page).getByRole("heading", { level: 3, name: text });

/** The list of what waits. */
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

/** By its address. */
export async function visitCard(page, interrupt) {
  await page.goto(`/inbox/${interrupt.id}`);
  await shown(page, interrupt);
}

/** An option once all of the card is shown. The app asks again for a decision that was made before that. */
export const optionOfAll = (page, label) => option(page, label).filter({ hasNotText: /not shown/ });

/** Waits until the card is the one of this interrupt. */
export function shown(page, { id, kind }) {
  return page.locator(`article[data-interrupt="${id}"]`).getByRole("heading", { level: 2, name: t(`kind.${kind}`) }).waitFor();
}
