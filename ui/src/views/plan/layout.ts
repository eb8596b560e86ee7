// Where the subtasks of a plan stand: the server lays them out, as for every other client.
import { post } from "../../api/client";
import type { NodePosition, PlanLayout } from "../../api/types";
import type { Part } from "./part";

/** Of the plans that somebody looks at in turn. */
const KEPT = 30;
const known = new Map<string, Promise<NodePosition[]>>();

/** A place for each, in their order. Texts and agents move nothing. */
export function layout(parts: readonly Part[]): Promise<NodePosition[]> {
  const subtasks = parts.map(({ id, depends_on }) => ({ id, depends_on }));
  const key = JSON.stringify(subtasks);
  const found = known.get(key);
  if (found) return found;
  const asked = post<PlanLayout>("/v1/plans/layout", { subtasks }).then(({ places }) => places);
  known.set(key, asked);
  asked.catch(() => known.delete(key));
  const oldest = known.keys().next().value;
  if (known.size > KEPT && oldest !== undefined) known.delete(oldest);
  return asked;
}
