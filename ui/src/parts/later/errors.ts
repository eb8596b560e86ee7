// Errors of the server about an edit, by JSON pointer.

export interface FieldError {
  pointer: string;
  message: string;
}

/** Returns the errors at a pointer and below it: an error at `/edit/subtasks/0` is below `/edit`. */
export function below(errors: readonly FieldError[], pointer: string): FieldError[] {
  return errors.filter((error) => error.pointer === pointer || error.pointer.startsWith(`${pointer}/`));
}

export function member(pointer: string, name: string | number): string {
  return `${pointer}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Returns the errors at the pointer, and errors below it that belong to none of the given members. */
export function own(errors: readonly FieldError[], pointer: string, members: readonly (string | number)[]): FieldError[] {
  const inside = members.map((name) => member(pointer, name));
  return below(errors, pointer).filter((error) => !inside.some((each) => below([error], each).length > 0));
}

/**
 * Moves the error of a missing member to the pointer of this member. The server's pointer is that of the object, and
 * its message contains the member's name.
 */
export function placed(error: FieldError): FieldError {
  const quoted = /^("(?:[^"\\]|\\.)*") is a required property$/.exec(error.message)?.[1];
  if (!quoted) return error;
  try {
    return { ...error, pointer: member(error.pointer, JSON.parse(quoted) as string) };
  } catch {
    return error;
  }
}
