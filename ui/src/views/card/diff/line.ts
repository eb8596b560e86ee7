// The text of one line of a diff. It is built directly with the DOM, because 2000 components would take a second
// longer.
import { withForeign } from "../../../parts/alike";
import { type Piece, pieces } from "../../../parts/plain";
import { t } from "../../../texts";
import type { Row } from "./rows";

/** Fills a table cell; for `{@attach}`. Characters that would not be visible are marked, as in Plain.svelte. */
export function line(row: Row, words: string[]): (cell: HTMLElement) => void {
  return (cell) => {
    const text = document.createElement("bdi");
    cell.style.setProperty("--indent", `${indent(row)}ch`);
    for (const segment of row.segments) {
      const into = segment.changed ? text.appendChild(document.createElement("em")) : text;
      for (const piece of withForeign(pieces(segment.text, "text"), words)) into.append(isMarked(piece) ? marked(piece) : piece.text);
    }
    cell.replaceChildren(text);
    if (row.isUnended) cell.append(unended());
  };
}

/** Maximum indent, in columns, that the continuation of a wrapped line takes from the line itself. */
const DEEPEST = 16;
const TAB = 4;

function indent(row: Row): number {
  const blank = /^[\t ]*/.exec(row.segments.map((segment) => segment.text).join(""))?.[0] ?? "";
  return Math.min(blank.replaceAll("\t", " ".repeat(TAB)).length, DEEPEST) + 2;
}

const isMarked = (piece: Piece): boolean => piece.hidden || piece.foreign === true;

function marked({ text, foreign }: Piece): HTMLElement {
  const mark = document.createElement("mark");
  mark.title = t(foreign ? "plain.foreign" : "plain.hidden");
  mark.classList.toggle("foreign", foreign === true);
  mark.textContent = text;
  return mark;
}

function unended(): HTMLElement {
  const note = document.createElement("small");
  note.textContent = t("card.diff.unended");
  return note;
}

/** Returns the name of an operation, for screen readers. */
export function spoken(row: Row | undefined): string {
  if (row?.op === "+") return t("card.diff.added");
  return row?.op === "-" ? t("card.diff.removed") : "";
}
