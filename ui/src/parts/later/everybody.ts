// Who there is, for whoever may read that.
import { get } from "../../api/client";
import type { List, Person } from "../../api/types";
import { seesAll } from "../../state/session.svelte";

/** Nobody for whoever may not read it. */
export async function everybody(): Promise<Person[]> {
  return seesAll() ? (await get<List<Person>>("/v1/people")).items : [];
}
