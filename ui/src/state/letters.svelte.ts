// True if single letters are commands. People who use speech input or who hit keys by accident can switch these
// commands off (WCAG 2.1.4). The choice is stored in this browser.

const KEY = "holdshort.letters";

export const letters = $state({ on: localStorage.getItem(KEY) !== "off" });

export function setLetters(on: boolean): void {
  letters.on = on;
  localStorage.setItem(KEY, on ? "on" : "off");
}
