// Sending a form: once at a time, and what the server says is wrong stands at the fields that it means.
import { tick } from "svelte";
import { get, Problem } from "../../api/client";
import type { List, Person } from "../../api/types";
import { seesAll } from "../../state/session.svelte";
import { below, type FieldError } from "../card/edit/errors";

export class Sending {
  isBusy = $state(false);
  problem = $state.raw<unknown>();

  /** Nothing where it was refused: the first field that is wrong has the focus then. */
  async send<T>(form: HTMLFormElement | undefined, request: () => Promise<T>): Promise<{ answer: T } | undefined> {
    if (this.isBusy) return undefined;
    this.isBusy = true;
    this.problem = undefined;
    try {
      return { answer: await request() };
    } catch (problem) {
      this.problem = problem;
      await tick();
      form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
      return undefined;
    } finally {
      this.isBusy = false;
    }
  }

  at(pointer: string): FieldError[] {
    return this.problem instanceof Problem ? below(this.problem.body.errors ?? [], pointer) : [];
  }
}

/** Everybody, for whoever may read that; nobody for whoever may not. */
export async function everybody(): Promise<Person[]> {
  const people: Person[] = [];
  let cursor: string | null | undefined = seesAll() ? "" : undefined;
  while (cursor != null) {
    const after: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    const page: List<Person> = await get<List<Person>>(`/v1/people?limit=200${after}`);
    people.push(...page.items);
    cursor = page.next_cursor;
  }
  return people;
}

/** A moment of a field without a time zone, which is that of the browser. What is no time is left to the server. */
export function instant(local: string): string | undefined {
  if (local === "") return undefined;
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? local : at.toISOString();
}

/** The other way: for the field. */
export function local(at: string | null | undefined): string {
  if (!at) return "";
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
