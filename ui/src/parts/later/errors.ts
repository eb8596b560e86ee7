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

/** What lacks a member is told at that member: the server names the object, and the member in its words. */
export function placed(error: FieldError): FieldError {
  const quoted = /^("(?:[^"\\]|\\.)*") is a required property$/.exec(error.message)?.[1];
  if (!quoted) return error;
  try {
    return { ...error, pointer: member(error.pointer, JSON.parse(quoted) as string) };
  } catch {
    return error;
  }
}
