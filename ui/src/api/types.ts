// The wire types that the app uses, with short names. All types come from the OpenAPI document.
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Assignment = Schemas["Assignment"];
export type AuditRecord = Schemas["AuditRecord"];
export type Identity = Schemas["Identity"];
export type LoginProvider = Schemas["LoginProvider"];
export type Person = Schemas["Person"];
export type PersonRole = Schemas["PersonRole"];
export type NextEscalation = Schemas["NextEscalation"];
export type Quorum = Schemas["Quorum"];
export type RemovedPerson = Schemas["RemovedPerson"];
export type SetPerson = Schemas["SetPerson"];
export type Vote = Schemas["Vote"];
export type Offer = Schemas["Offer"];
export type Decision = Schemas["Decision"];
export type Event = Schemas["Event"];
export type Grant = Schemas["Grant"];
export type Group = Schemas["Group"];
export type Hours = Schemas["Hours"];
export type Info = Schemas["Info"];
export type AlsoCovered = Schemas["AlsoCovered"];
export type Interrupt = Schemas["Interrupt"];
export type Card = Schemas["Card"];
export type CardFact = Schemas["CardFact"];
export type CardOption = Schemas["CardOption"];
export type CardPart = Schemas["CardPart"];
/** An interrupt with its card, as the server returns a single interrupt. */
export type Carded = Interrupt & { card: Card };
export type Erased = Schemas["ErasedContent"];
export type Frozen = Schemas["Frozen"];
export type JournalHead = Schemas["JournalHead"];
export type Key = Schemas["Key"];
export type KeyWithSecret = Schemas["KeyWithSecret"];
export type Kind = Schemas["Kind"];
export type Level = Schemas["Level"];
export type Outcome = Schemas["Outcome"];
export type NodePosition = Schemas["NodePosition"];
export type Plan = Schemas["Plan"];
export type PlanLayout = Schemas["PlanLayout"];
export type Preview = Schemas["Preview"];
export type Refusal = Schemas["Refusal"];
export type Resolution = Schemas["Resolution"];
export type Work = Schemas["Work"];
export type PushSubscription = Schemas["PushSubscription"];
export type PushSubscriptions = Schemas["PushSubscriptions"];
export type Run = Schemas["Run"];
export type RunLayer = Schemas["RunLayer"];
export type Session = Schemas["Session"];
export type Delivered = Schemas["Delivered"];
export type OpenSession = Schemas["OpenSession"];
export type StartRun = Schemas["StartRun"];
export type Suggestion = Schemas["Suggestion"];
export type Status = Schemas["Status"];
export type SubtaskStatus = Schemas["SubtaskStatus"];
export type System = Schemas["System"];
export type Verification = Schemas["Verification"];
export type Workflow = Schemas["Workflow"];
/** A problem in the form in which the server sends it (RFC 9457). */
export type ProblemBody = Schemas["Problem"];

export interface List<T> {
  items: T[];
  next_cursor?: string | null;
}
