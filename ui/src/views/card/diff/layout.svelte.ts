// The person's choice of diff layout: inline or side by side. The choice is stored in this browser.

export type Layout = "inline" | "sides";

const KEY = "holdshort.diff";

export const layout = $state({ chosen: (localStorage.getItem(KEY) === "sides" ? "sides" : "inline") as Layout });

export function setLayout(chosen: Layout): void {
  layout.chosen = chosen;
  localStorage.setItem(KEY, chosen);
}
