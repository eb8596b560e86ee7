// The result of a trial, read from a card's payload: the changes by group, and the number of changes that are not
// shown.
import { type Diff, readDiff, undrawn } from "../../diff/diff";
import { type Data, data, list, text, texts } from "../../payload";

export interface Change {
  path: string;
  does: string;
  kind: string;
  isIgnored: boolean;
  /** True if the task names paths and the path of this change is not one of them. */
  isOutside: boolean;
  bytes?: number;
  mode?: string;
  /** Target of a symbolic link. */
  target?: string;
  /** Undefined if the change has no lines to show: a link, an empty file, a new file mode. */
  diff?: Diff;
  isNotText: boolean;
  /** True if the diff did not fit on the card. */
  isUndrawn: boolean;
}

export interface Trial {
  files: number;
  deleted: number;
  ignored: number;
  /** Number of changes outside the paths that the task names. 0 if the task names no paths. */
  outside: number;
  exit?: number;
  seconds?: number;
  isTimedOut: boolean;
  isStopped: boolean;
  isOverCopy: boolean;
  output: string;
  /** Test results that the runtime found in the output. They are not verified: the command may print anything. */
  tests: string[];
  /** Descriptions of changes to the Git repository, written by the runtime. */
  git: string[];
  changes: Change[];
  /** True if no command ran and the changes are those of an undo. */
  isUndo: boolean;
  /** True if no command ran and the changes are those of a merge. */
  isMerge: boolean;
  /** Files that the command writes to the layer of the run instead of the workspace. */
  layer: { files: number; paths: string[] };
  /** Paths that an undo leaves unchanged, each with the reason. Also calls whose changes are unknown. */
  left: { path: string; why: string }[];
  /** Number of entries of `left` that do not fit on the card. */
  leftNotShown: number;
  notShown: number;
  /**
   * Paths whose changes a person can keep or drop. `partsNotShown` is the number of such paths that do not fit on the
   * card.
   */
  parts: string[];
  partsNotShown: number;
}

const CONTENT = ["created", "changed", "deleted"];

export function isOfGit({ path }: { path: string }): boolean {
  return path.split("/").some((name) => name.toLowerCase() === ".git");
}

export function readTrial(from: Data): Trial {
  const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
  const keep = data(from.keep);
  const layer = data(from.layer);
  const left = [
    ...list(from.left).map((each) => ({ path: text(data(each), "path") ?? "", why: text(data(each), "why") ?? "" })),
    ...texts(from.unknown).map((path) => ({ path, why: "unknown" })),
  ];
  const milliseconds = number(from.duration_ms);
  return {
    files: number(from.files) ?? 0,
    deleted: number(from.deleted) ?? 0,
    ignored: number(from.ignored) ?? 0,
    outside: number(from.outside) ?? 0,
    exit: number(from.exit_code),
    seconds: milliseconds === undefined ? undefined : milliseconds / 1_000,
    isTimedOut: from.timed_out === true,
    isStopped: from.stopped === true,
    isOverCopy: from.over === "copy",
    output: (text(from, "output") ?? "").replace(/\n+$/, ""),
    tests: texts(from.tests),
    git: texts(from.git),
    changes: list(from.changes).map((each) => readChange(data(each))),
    isUndo: from.undo !== undefined,
    isMerge: from.merge !== undefined,
    layer: { files: number(layer.files) ?? 0, paths: texts(layer.paths) },
    left,
    leftNotShown: Math.max(0, (number(from.not_undone) ?? 0) - left.length),
    notShown: number(from.not_shown) ?? 0,
    parts: texts(keep.parts),
    partsNotShown: number(keep.not_shown) ?? 0,
  };
}

function readChange(from: Data): Change {
  const diff = readDiff(from.diff);
  const read = {
    path: text(from, "path") ?? "",
    does: text(from, "does") ?? "changed",
    kind: text(from, "kind") ?? "file",
    isIgnored: from.ignored === true,
    isOutside: from.outside === true,
    bytes: typeof from.bytes === "number" ? from.bytes : undefined,
    mode: text(from, "mode"),
    target: text(from, "target"),
    diff: diff && (diff.hunks.length > 0 || diff.truncated) ? diff : undefined,
    isNotText: from.not_text === true,
    isUndrawn: false,
  };
  const hasText = read.kind === "file" && CONTENT.includes(read.does) && !isOfGit(read);
  return { ...read, isUndrawn: hasText && !diff && !read.isNotText };
}

/** Counts the changes that do not fit on the card. A file that is not text is shown only by its name and size. */
export function unseen({ changes, notShown }: Trial): { paths: number; changes: number; lines: number } {
  const cut = changes.map(({ diff }) => (diff?.truncated ? undrawn(diff) : { added: 0, removed: 0 }));
  return {
    paths: notShown,
    changes: changes.filter((change) => change.isUndrawn).length,
    lines: cut.reduce((sum, { added, removed }) => sum + added + removed, 0),
  };
}

/**
 * Returns true if a part that the person keeps contains changes that are not shown. Dropped parts are ignored, because
 * they are not released.
 */
export function unseenOf(trial: Trial, kept: readonly string[]): boolean {
  const parts = [...trial.parts, ...kept];
  const liesIn = (path: string, part: string): boolean => path === part || path.startsWith(`${part}/`);
  const partOf = (path: string): string | undefined =>
    parts.filter((part) => liesIn(path, part)).reduce<string | undefined>((long, part) => (part.length > (long?.length ?? -1) ? part : long), undefined);
  const isKept = (path: string): boolean => {
    const part = partOf(path);
    return part !== undefined && kept.includes(part);
  };
  // A part that contains further paths includes all of them, shown or not.
  const mayHoldMore = kept.some((part) => {
    const at = trial.changes.find(({ path }) => path === part);
    return isOfGit({ path: part }) || at === undefined || at.does === "replaced";
  });
  const left = unseen({ ...trial, changes: trial.changes.filter(({ path }) => isKept(path)), notShown: mayHoldMore ? trial.notShown : 0 });
  return left.paths + left.changes + left.lines > 0;
}

/** Maximum number of files that a dialog lists by name. Further files are only counted. */
const NAMED = 20;

export interface Affected {
  name: "dropped" | "undone" | "left" | "unmerged";
  files: { path: string; does?: string; kind?: string }[];
  /** Number of further files that are not listed. */
  more: number;
}

/**
 * Returns the files that a decision affects in addition to the released files. `kept` contains the parts that the
 * person keeps.
 */
export function affected(trial: Trial, kept: readonly string[] | undefined): Affected[] {
  const changes = new Map(trial.changes.map((change) => [change.path, change]));
  const named = (path: string): Affected["files"][number] => ({ path, does: changes.get(path)?.does, kind: changes.get(path)?.kind });
  const cut = (name: Affected["name"], files: Affected["files"], unnamed: number): Affected => ({
    name,
    files: files.slice(0, NAMED),
    more: Math.max(0, files.length - NAMED) + unnamed,
  });
  const lists: Affected[] = [];
  if (kept) {
    const others = trial.parts.filter((part) => !kept.includes(part)).map(named);
    lists.push(trial.isUndo ? cut("left", [...others, ...left(trial)], trial.partsNotShown + trial.leftNotShown) : cut(trial.isMerge ? "unmerged" : "dropped", others, trial.partsNotShown));
  } else if (trial.isUndo) {
    lists.push(cut("undone", trial.changes.map(({ path }) => named(path)), trial.notShown));
    lists.push(cut("left", left(trial), trial.leftNotShown));
  }
  return lists.filter(({ files, more }) => files.length + more > 0);
}

function left(trial: Trial): Affected["files"] {
  return trial.left.map(({ path }) => ({ path }));
}

/** Maximum number of diff lines that are unfolded when the card opens. */
const OPEN_LINES = 60;
const OPEN_FILES = 4;

/**
 * Returns the number of changes at the start of the list that are unfolded: at least one, and more while the card
 * stays short.
 */
export function opened(changes: readonly Change[]): number {
  let [files, lines] = [0, 0];
  const tooFar = changes.findIndex(({ diff }) => {
    if (!diff) return false;
    files += 1;
    lines += diff.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
    return files > 1 && (lines > OPEN_LINES || files > OPEN_FILES);
  });
  return tooFar < 0 ? changes.length : tooFar;
}

/** Formats a file size. */
export function size(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB"];
  let [value, unit] = [bytes, 0];
  for (; value >= 1_000 && unit < units.length - 1; unit += 1) value /= 1_000;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
