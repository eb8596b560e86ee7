// Text of agents as what it is: characters that hide, reorder or imitate are shown by their code, never obeyed. The
// same rule as `holdshort_protocol::plain` in the terminal and on the script-less page; one table tests all three.

export interface Piece {
  text: string;
  /** Stands for a character that would not be seen as it is. */
  hidden: boolean;
}

/** `line`: for names, paths, commands, where line breaks, tabs and unusual spaces are shown too. */
export type Form = "text" | "line";

/** Marks on one letter; more of them would climb over the lines above. */
const MARKS = 4;

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}]/u;
const BLANK =
  /[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc\u{1d159}\u{e0100}-\u{e01ef}]/u;
const SPACE = /\p{Zs}/u;
const MARK = /[\p{Mn}\p{Me}]/u;
const SYMBOL = /\p{So}/u;
const HARMLESS = /^[ -~\n\t]*$/;

export function pieces(text: string, form: Form): Piece[] {
  if (HARMLESS.test(text) && (form === "text" || !/[\n\t]/.test(text))) return text ? [{ text, hidden: false }] : [];
  const out: Piece[] = [];
  const put = (text: string, hidden: boolean): void => {
    const last = out.at(-1);
    if (last && !hidden && !last.hidden) last.text += text;
    else out.push({ text, hidden });
  };
  let marks = 0;
  let previous = "\n";
  const characters = Array.from(text);
  characters.forEach((character, at) => {
    marks = MARK.test(character) ? marks + 1 : 0;
    if (isShown(character, previous, marks, form)) put(character, false);
    // Line ends of other systems are no secret.
    else if (!(character === "\r" && form === "text" && characters[at + 1] === "\n")) put(code(character), true);
    previous = character;
  });
  return out;
}

/** The same as one string: for names of controls and titles of pages. */
export function plain(text: string, form: Form = "line"): string {
  return pieces(text, form)
    .map((piece) => piece.text)
    .join("");
}

function isShown(character: string, previous: string, marks: number, form: Form): boolean {
  if (character >= " " && character <= "~") return true;
  if (character === "\n" || character === "\t") return form === "text";
  // Says that the symbol before it is a picture.
  if (character === "\ufe0f") return SYMBOL.test(previous);
  if (BLANK.test(character)) return false;
  if (SPACE.test(character)) return form === "text";
  return !INVISIBLE.test(character) && marks <= MARKS;
}

function code(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
