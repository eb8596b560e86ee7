// Returns the last component of a path, which identifies a repository on one line.

export function lastPart(path: string | null | undefined): string | undefined {
  return path?.split("/").filter(Boolean).at(-1);
}
