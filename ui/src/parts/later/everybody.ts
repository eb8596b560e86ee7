// The lists of people and groups, for readers with permission to list them.
import { get } from "../../api/client";
import type { Group, List, Person } from "../../api/types";
import { seesAll } from "../../state/session.svelte";

/** Returns the items of all pages of a list. Empty if the reader may not read the list. */
async function all<T>(path: string): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null | undefined = seesAll() ? "" : undefined;
  while (cursor != null) {
    const after: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    const page: List<T> = await get<List<T>>(`${path}?limit=200${after}`);
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return items;
}

export const everybody = () => all<Person>("/v1/people");

/** Returns the groups that have members or working hours. */
export const everyGroup = () => all<Group>("/v1/groups");
