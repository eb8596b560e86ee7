// Who there is, for whoever may read that.
import { get } from "../../api/client";
import type { Group, List, Person } from "../../api/types";
import { seesAll } from "../../state/session.svelte";

/** All pages of a list; nothing for whoever may not read it. */
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

/** The groups that somebody is in, and those whose hours are known. */
export const everyGroup = () => all<Group>("/v1/groups");
