// Who there is, for whoever may read that.
import { get } from "../../api/client";
import type { List, Person } from "../../api/types";
import { seesAll } from "../../state/session.svelte";

/** Nobody for whoever may not read it. */
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
