// Opens the next request after a decision, unless the person has switched this off. The choice is stored in this
// browser.

const KEY = "holdshort.advance";

export const advance = $state({
  on: localStorage.getItem(KEY) !== "off",
  /** The request that was decided just before. The next card names it. */
  last: undefined as { id: string; title: string; outcome: string } | undefined,
});

export function setAdvance(on: boolean): void {
  advance.on = on;
  localStorage.setItem(KEY, on ? "on" : "off");
}
