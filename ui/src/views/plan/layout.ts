// Requests the layout of a plan from the server, which computes the layout for every client.
import { post } from "../../api/client";
import type { NodePosition, PlanLayout } from "../../api/types";
import type { Part } from "./part";

/** Maximum number of layouts in the cache. */
const KEPT = 30;
const known = new Map<string, Promise<NodePosition[]>>();

/** Returns one position per subtask, in the order of the subtasks. Texts and agents do not affect the positions. */
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
