// True if single letters are commands. People who use speech input, or hit keys by accident, can switch them off (WCAG
// 2.1.4). Remembered in this browser.

const KEY = "holdshort.letters";

export const letters = $state({ on: localStorage.getItem(KEY) !== "off" });

export function setLetters(on: boolean): void {
  letters.on = on;
  localStorage.setItem(KEY, on ? "on" : "off");
}
