// Shapes of the HTTP API that the SDK reads and writes. Members that the SDK does not use are left out.

/** Tool call that the agent runs itself. An approval is bound to exactly this call. */
export interface Call {
  readonly tool: string;
  readonly arguments: object;
  /** Absolute path of the folder that the agent works in. */
  readonly workspace?: string;
  /** Absolute working directory of a command. */
  readonly cwd?: string;
  /** Content of the changed file before the call. */
  readonly before?: string;
  /** Content of the changed file after the call. The card shows the difference to `before`. */
  readonly after?: string;
}

/** Members of a request that {@link import("./client.js").Holdshort} passes on to the server unchanged. */
export interface AskFields {
  /** Approvers: `{approvers, groups, quorum, stages, …}`. Without it, admins and operators decide. */
  assignment?: object;
  /** Milliseconds until the request expires. */
  expiresInMs?: number;
  /** Option that applies on expiry. It must not release work. */
  onExpiry?: string;
  /** Reminders `{after_ms, every_ms?, limit?}` for the approvers. */
  reminders?: object;
  /** Escalation steps `{after_ms, approvers?, groups?, replace?}`. */
  escalation?: readonly object[];
  /** Run of the workflow `external` that the request belongs to. */
  run?: string;
  /** Holdshort session (`ses_…`) in which a new run starts. */
  session?: string;
  /** Customer or account that the request is about, for erasure and reuse of answers. */
  subject?: string;
  /** True if deadlines count only the working hours of the assigned groups. */
  workingTime?: boolean;
}

export interface Resolution {
  readonly outcome: "approved" | "rejected" | "answered" | "expired" | "cancelled" | "superseded";
  readonly option?: string | null;
  readonly text?: string | null;
  readonly edit?: unknown;
  /** Ids of the people who decided. */
  readonly by: readonly string[];
  /** `decision`, `expiry`, `grant`, `rule`, `reused`, `superseded`, `withdrawn` or `run_ended`. */
  readonly cause: string;
  readonly at: string;
}

export interface Interrupt {
  readonly id: string;
  readonly run: string;
  readonly status: "open" | "resolved";
  readonly title: string;
  readonly payload?: unknown;
  readonly options: readonly { readonly id: string; readonly needs_edit?: boolean }[];
  readonly risk?: { readonly reasons: readonly { readonly code: string; readonly text: string }[] };
  readonly expires_at?: string | null;
  readonly resolution?: Resolution | null;
  readonly approval?: {
    readonly digest: string;
    /** Approved work after an edit. Absent without an edit. */
    readonly approved?: unknown;
    readonly usable_until?: string | null;
    readonly used?: { readonly at: string; readonly by: string } | null;
  } | null;
}

/** Body of an error response (RFC 9457). */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly title?: string;
  readonly detail?: string;
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[];
  readonly approval?: Interrupt["approval"];
  readonly resolution?: Resolution | null;
}

/** Returns the members of a request body. Absent options are left out, so that repeats have the same body. */
export function askFields(fields: AskFields): Record<string, unknown> {
  const body: Record<string, unknown> = {
    assignment: fields.assignment,
    expires_in_ms: fields.expiresInMs,
    on_expiry: fields.onExpiry,
    reminders: fields.reminders,
    escalation: fields.escalation,
    run: fields.run,
    session: fields.session,
    subject: fields.subject,
    working_time: fields.workingTime,
  };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}
