// Whether single letters are commands. Who speaks to the computer, or hits keys by accident, switches them off (WCAG
// 2.1.4). Remembered in this browser.

const KEY = "holdshort.letters";

export const letters = $state({ on: localStorage.getItem(KEY) !== "off" });

export function setLetters(on: boolean): void {
  letters.on = on;
  localStorage.setItem(KEY, on ? "on" : "off");
}
