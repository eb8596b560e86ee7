// What every field of a form is told.
import type { FieldError } from "../../../parts/later/errors";
import type { Field } from "./form";

export interface Props<F = Field> {
  field: F;
  /** `undefined` where it is not filled in. */
  value: unknown;
  /** The member that it is; empty where it is none. */
  name: string;
  label: string;
  pointer: string;
  errors: FieldError[];
  isRequired: boolean;
  isRoot?: boolean;
  /** An entry of a list: its number stands for its name. */
  isEntry?: boolean;
  /** Of the entries of a list only the first is explained. */
  isHelped?: boolean;
}

export type Of<T extends Field["type"]> = Props<Extract<Field, { type: T }>>;
