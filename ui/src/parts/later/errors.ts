// Errors of the server about an edit, by JSON pointer.

export interface FieldError {
  pointer: string;
  message: string;
}

/** Returns the errors at a pointer and below it, such as at `/edit/subtasks/0` for `/edit`. */
export function below(errors: readonly FieldError[], pointer: string): FieldError[] {
  return errors.filter((error) => error.pointer === pointer || error.pointer.startsWith(`${pointer}/`));
}

export function member(pointer: string, name: string | number): string {
  return `${pointer}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Returns the errors of the pointer itself and of members that it does not have. */
export function own(errors: readonly FieldError[], pointer: string, members: readonly (string | number)[]): FieldError[] {
  const inside = members.map((name) => member(pointer, name));
  return below(errors, pointer).filter((error) => !inside.some((each) => below([error], each).length > 0));
}

/** Moves the error of a missing member to that member. The server points at the object and quotes the member's name. */
export function placed(error: FieldError): FieldError {
  const quoted = /^("(?:[^"\\]|\\.)*") is a required property$/.exec(error.message)?.[1];
  if (!quoted) return error;
  try {
    return { ...error, pointer: member(error.pointer, JSON.parse(quoted) as string) };
  } catch {
    return error;
  }
}
