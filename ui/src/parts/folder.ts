// What tells two repositories apart on a line: the last part of a path.

export function lastPart(path: string | null | undefined): string | undefined {
  return path?.split("/").filter(Boolean).at(-1);
}
