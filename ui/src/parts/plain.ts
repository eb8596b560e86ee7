// Shows text of agents literally: characters that hide, reorder or imitate other characters are replaced by their code
// points. `holdshort_protocol::plain` implements the same rule for the terminal and for pages without scripts. Tests of
// all implementations use the same table.

export interface Piece {
  text: string;
  /** True if the text replaces a character that would not be visible. */
  hidden: boolean;
  /** True for a foreign letter in a word that imitates another word. */
  foreign?: boolean;
}

/**
 * `text`: prose. `line`: an exact value on one line, such as a name, a path or a command line; line breaks, tabs and
 * unusual spaces are marked too. `lines`: an exact value on several lines, such as data; line breaks and tabs are
 * kept.
 */
export type Form = "text" | "line" | "lines";

/** Maximum number of combining marks on one letter. More marks would cover the lines above. */
const MARKS = 4;

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}]/u;
const BLANK =
  /[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc\u{1d159}\u{e0100}-\u{e01ef}]/u;
const SPACE = /\p{Zs}/u;
const MARK = /[\p{Mn}\p{Me}]/u;
/** Characters that may be displayed as an emoji. */
const SYMBOL = /(?=[^\0-\x7f])[\p{So}\p{Sm}\p{Sk}ℹ‼⁉〰]/u;
/** Letters of scripts whose spelling uses joiners. */
const JOINS =
  /[\p{sc=Arab}\p{sc=Syrc}\p{sc=Deva}\p{sc=Beng}\p{sc=Guru}\p{sc=Gujr}\p{sc=Orya}\p{sc=Taml}\p{sc=Telu}\p{sc=Knda}\p{sc=Mlym}\p{sc=Sinh}\p{sc=Mymr}\p{sc=Khmr}]/u;
const HARMLESS = /^[ -~\n\t]*$/;

export function pieces(text: string, form: Form): Piece[] {
  if (HARMLESS.test(text) && (form !== "line" || !/[\n\t]/.test(text))) return text ? [{ text, hidden: false }] : [];
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
    const next = characters[at + 1] ?? "\n";
    // The carriage return of a Windows line end is not marked.
    const isDropped = character === "\r" && form === "text" && next === "\n";
    if (isBare(character, form) || isOfItsNeighbours(character, previous, next, form)) put(character, false);
    else if (!isDropped) {
      if (!BLANK.test(character)) marks = MARK.test(character) ? marks + 1 : 0;
      const isShown = isVisible(character, form) && marks <= MARKS;
      put(isShown ? character : code(character), !isShown);
    }
    if (character <= "\x7f") marks = 0;
    previous = character;
  });
  return out;
}

/** Returns the text as one string, for names of controls and titles of pages. */
export function plain(text: string, form: Form = "line"): string {
  return pieces(text, form)
    .map((piece) => piece.text)
    .join("");
}

function isBare(character: string, form: Form): boolean {
  return (character >= " " && character <= "~") || (form !== "line" && (character === "\n" || character === "\t"));
}

/** Returns true for an invisible character that is correct between its neighbours. */
function isOfItsNeighbours(character: string, previous: string, next: string, form: Form): boolean {
  // A variation selector after a symbol selects its emoji form or its text form. It also occurs in keycap emoji.
  if (character === "\ufe0e" || character === "\ufe0f") return SYMBOL.test(previous) || next === "\u20e3";
  if (character === "\u200d" && SYMBOL.test(next)) return SYMBOL.test(previous) || previous === "\ufe0f";
  const isJoiner = character === "\u200c" || character === "\u200d";
  return isJoiner && form === "text" && JOINS.test(previous) && JOINS.test(next);
}

function isVisible(character: string, form: Form): boolean {
  if (BLANK.test(character)) return false;
  return SPACE.test(character) ? form === "text" : !INVISIBLE.test(character);
}

function code(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
