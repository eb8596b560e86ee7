// The properties of every field of a form.
import type { FieldError } from "../../../parts/later/errors";
import type { Field } from "./form";

export interface Props<F = Field> {
  field: F;
  /** Value of the field. `undefined` if the field is not filled in. */
  value: unknown;
  /** Name of the member. Empty if the field is not a member of an object. */
  name: string;
  label: string;
  pointer: string;
  errors: FieldError[];
  isRequired: boolean;
  isRoot?: boolean;
  /** True for an entry of a list. Its label is its number. */
  isEntry?: boolean;
  /** True if the help text is shown. In a list, only the first entry shows the help text. */
  isHelped?: boolean;
}

export type Of<T extends Field["type"]> = Props<Extract<Field, { type: T }>>;
