// What the server says about an edit, by the place that it means.

export interface FieldError {
  pointer: string;
  message: string;
}

/** What is below one place: `/edit` of `/edit/subtasks/0`. */
export function below(errors: readonly FieldError[], pointer: string): FieldError[] {
  return errors.filter((error) => error.pointer === pointer || error.pointer.startsWith(`${pointer}/`));
}

export function member(pointer: string, name: string | number): string {
  return `${pointer}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Those of a place itself, and those of members that it does not have. */
export function own(errors: readonly FieldError[], pointer: string, members: readonly (string | number)[]): FieldError[] {
  const inside = members.map((name) => member(pointer, name));
  return below(errors, pointer).filter((error) => !inside.some((each) => below([error], each).length > 0));
}
