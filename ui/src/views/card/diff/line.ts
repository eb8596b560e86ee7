// The text of one line in its cell. Drawn by hand: as components, 2000 lines of it take a second longer.
import { pieces } from "../../../parts/plain";
import { t } from "../../../texts";
import type { Row } from "./rows";

/** Fills a cell; for `{@attach}`. Characters that would not be seen as they are stand marked, as in Plain.svelte. */
export function line(row: Row): (cell: HTMLElement) => void {
  return (cell) => {
    const text = document.createElement("bdi");
    for (const segment of row.segments) {
      const into = segment.changed ? text.appendChild(document.createElement("em")) : text;
      for (const piece of pieces(segment.text, "text")) into.append(piece.hidden ? marked(piece.text) : piece.text);
    }
    cell.replaceChildren(text);
    if (row.isUnended) cell.append(unended());
  };
}

function marked(text: string): HTMLElement {
  const mark = document.createElement("mark");
  mark.title = t("plain.hidden");
  mark.textContent = text;
  return mark;
}

function unended(): HTMLElement {
  const note = document.createElement("small");
  note.textContent = t("card.diff.unended");
  return note;
}

/** What an operation is called for those who hear the page. */
export function spoken(row: Row | undefined): string {
  if (row?.op === "+") return t("card.diff.added");
  return row?.op === "-" ? t("card.diff.removed") : "";
}
