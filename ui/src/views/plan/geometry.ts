// Computes boxes and lines of a graph from its layers and rows. Wide graphs run from left to right. Narrow graphs stack
// the boxes, with the lines to the left of the boxes.
import type { Drawn } from "./part";

export interface Box {
  left: number;
  top: number;
  width: number;
}

export interface Geometry {
  isWide: boolean;
  width: number;
  height: number;
  boxes: Map<string, Box>;
  /** SVG paths, each from a dependency to the subtask that waits for it. */
  lines: { from: string; to: string; path: string }[];
}

export const BOX_HEIGHT = 88;
const GAP = { across: 40, down: 20 };
const BOX_WIDTH = { least: 184, most: 280 };
/** Minimum width of a graph from left to right, in pixels. */
const WIDE = 560;
/** Width of the space for lines at the left of a narrow graph, in pixels. */
const GUTTER = 34;

export function geometry(parts: readonly Drawn[], room: number): Geometry {
  return room >= WIDE ? across(parts, room) : down(parts, room);
}

function across(parts: readonly Drawn[], room: number): Geometry {
  const layers = 1 + Math.max(0, ...parts.map((part) => part.layer));
  const rows = 1 + Math.max(0, ...parts.map((part) => part.row));
  const fair = (room - (layers - 1) * GAP.across) / layers;
  const width = Math.floor(Math.min(BOX_WIDTH.most, Math.max(BOX_WIDTH.least, fair)));
  const boxes = new Map<string, Box>();
  for (const part of parts) {
    const left = part.layer * (width + GAP.across);
    boxes.set(part.id, { left, top: part.row * (BOX_HEIGHT + GAP.down), width });
  }
  return {
    isWide: true,
    width: layers * width + (layers - 1) * GAP.across,
    height: rows * BOX_HEIGHT + (rows - 1) * GAP.down + GAP.down / 2,
    boxes,
    lines: lines(parts, boxes, (from, to, isFar) => bow(from, to, isFar)),
  };
}

/**
 * Returns a path from the right edge of the box `from` to the left edge of the box `to`. A path across several layers
 * runs between the rows, so that no box covers it.
 */
function bow(from: Box, to: Box, isFar: boolean): string {
  const [x1, y1] = [from.left + from.width, from.top + BOX_HEIGHT / 2];
  const [x2, y2] = [to.left - 3, to.top + BOX_HEIGHT / 2];
  const half = GAP.across / 2;
  if (!isFar) return `M${x1} ${y1}C${x1 + half} ${y1} ${x2 - half} ${y2} ${x2} ${y2}`;
  const between = from.top + BOX_HEIGHT + GAP.down / 2;
  const [in1, in2] = [x1 + GAP.across, x2 + 3 - GAP.across];
  return `M${x1} ${y1}C${x1 + half} ${y1} ${x1 + half} ${between} ${in1} ${between}L${in2} ${between}C${x2 - half} ${between} ${x2 - half} ${y2} ${x2} ${y2}`;
}

function down(parts: readonly Drawn[], room: number): Geometry {
  const ordered = inOrder(parts);
  const boxes = new Map<string, Box>();
  ordered.forEach((part, i) => boxes.set(part.id, { left: GUTTER, top: i * (BOX_HEIGHT + 10), width: Math.max(0, room - GUTTER) }));
  return {
    isWide: false,
    width: room,
    height: ordered.length * (BOX_HEIGHT + 10) - 10,
    boxes,
    lines: lines(parts, boxes, beside),
  };
}

/** Returns a path from left edge to left edge. A longer path bends further to the left. */
function beside(from: Box, to: Box): string {
  const [x, y1, y2] = [GUTTER, from.top + BOX_HEIGHT * 0.68, to.top + BOX_HEIGHT * 0.32];
  const steps = (to.top - from.top) / (BOX_HEIGHT + 10);
  const out = x - Math.min(GUTTER - 3, 8 + steps * 6);
  const bend = Math.min(20, Math.abs(y2 - y1) / 2);
  return `M${x} ${y1}C${out} ${y1} ${out} ${y1} ${out} ${y1 + bend}L${out} ${y2 - bend}C${out} ${y2} ${out} ${y2} ${x - 3} ${y2}`;
}

function lines(
  parts: readonly Drawn[],
  boxes: Map<string, Box>,
  draw: (from: Box, to: Box, isFar: boolean) => string,
): Geometry["lines"] {
  const layers = new Map(parts.map((part) => [part.id, part.layer]));
  return parts.flatMap((part) =>
    part.depends_on.flatMap((need) => {
      const [from, to] = [boxes.get(need), boxes.get(part.id)];
      const steps = part.layer - (layers.get(need) ?? part.layer);
      // Only a draft can contain a cycle. A cycle has no direction, so its lines are not drawn.
      return from && to && steps > 0 ? [{ from: need, to: part.id, path: draw(from, to, steps > 1) }] : [];
    }),
  );
}

/** Returns the subtasks in reading order, dependencies first. */
export function inOrder(parts: readonly Drawn[]): Drawn[] {
  return [...parts].sort((a, b) => a.layer - b.layer || a.row - b.row);
}
