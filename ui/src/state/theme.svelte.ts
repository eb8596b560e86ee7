// Light theme, dark theme, or the system's theme. The choice is stored in this browser.

export type Theme = "system" | "light" | "dark";

const KEY = "holdshort.theme";
const ORDER: Theme[] = ["system", "light", "dark"];

function stored(): Theme {
  const value = localStorage.getItem(KEY);
  return ORDER.find((theme) => theme === value) ?? "system";
}

export const theme = $state({ chosen: stored() });

function show(): void {
  if (theme.chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.chosen;
}

export function nextTheme(): void {
  theme.chosen = ORDER[(ORDER.indexOf(theme.chosen) + 1) % ORDER.length] ?? "system";
  localStorage.setItem(KEY, theme.chosen);
  show();
}

show();
