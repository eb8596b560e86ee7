// Describes the erasure of a run's content: who, when, and why.
import type { Erased } from "../api/types";
import { moment } from "../parts/age";
import { plain } from "../parts/plain";
import { t } from "./texts";

export function erasure({ by, at, because }: Erased): string {
  const who = because === "retention" ? t("run.erased.retention") : t("run.erased.by", { who: plain(by) });
  return t("run.erased.text", { at: moment(at), who });
}
