// The inbox: the open interrupts in the server's order. It updates itself while the page is open.
import { get, query } from "../api/client";
import type { Event, Interrupt, List, Vote } from "../api/types";
import { route } from "./route.svelte";
import { live, session } from "./session.svelte";

/** Maximum number of rows. The server has the rest. */
export const SHOWN = 200;
/** Delay that gathers a burst of events into one read. */
const GATHER_MS = 60;
const AGAIN_MS = 2_000;

export const inbox = $state({
  items: [] as Interrupt[],
  /** All open interrupts of the signed-in person, regardless of the filter. */
  all: [] as Interrupt[],
  more: false,
  loaded: false,
  /** Filter of the list: all that the person may see, those that name the person, or those of the person's groups. */
  which: {} as { assignee?: "me"; group?: "mine" },
  /** Number of new interrupts in the last read that had any, and the count of such reads. Screen readers announce
   *  it. */
  arrived: { n: 0, reading: 0 },
  /** Interrupts that expired while the page was open, until the person dismisses each. */
  expired: [] as { id: string; title: string }[],
});

/** Returns the vote of a person if it agrees with the newest vote: any other vote is reset, or settles nothing. If one
 *  person may vote in several stages, returns the vote in the current stage. */
export function standing({ votes = [], assignment }: Interrupt, who: string | undefined): Vote | undefined {
  const newest = votes.at(-1);
  const { distinct, stage } = assignment;
  const own = votes.find((vote) => vote.by === who && (distinct !== false || (vote.stage ?? stage) === stage));
  return own && newest && own.option === newest.option && own.edit_of === newest.edit_of ? own : undefined;
}

/** Returns the number of interrupts that wait for the signed-in person. Excludes those that others decide, and those
 *  that wait for others after the person's vote. */
export const waiting = (): number =>
  inbox.all.filter((item) => item.you?.may_decide !== false && !standing(item, session.me?.person)).length;

type Listener = (event: Event) => void;
const listeners = new Set<Listener>();
let timer: ReturnType<typeof setTimeout> | undefined;
let reading = false;
let again = false;

/** Calls the listener for every interrupt that opens, is decided on or is resolved. */
export function whenInboxChanges(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Changes the filter of the list. */
export function show(which: typeof inbox.which): void {
  inbox.which = which;
  // Interrupts of the new list are not announced as new arrivals.
  inbox.loaded = false;
  soon();
}

/** Dismisses the note about an expired interrupt. */
export function seen(id: string): void {
  inbox.expired = inbox.expired.filter((each) => each.id !== id);
}

export function followInbox(): () => void {
  return live.follow({
    topic: "inbox",
    started: () => soon(),
    event: (event) => {
      listeners.forEach((listener) => listener(event));
      if (event.type === "interrupt_resolved") void noteExpiry(event.data);
      soon();
    },
  });
}

/** Notes an expired interrupt, which otherwise would vanish from the list without a trace. */
async function noteExpiry(data: unknown): Promise<void> {
  const { interrupt: id, cause } = data as { interrupt: string; cause: string };
  // A person who has the card open sees the outcome there.
  if (cause !== "expiry" || (route.now.view === "inbox" && route.now.interrupt === id)) return;
  const known = inbox.all.find((item) => item.id === id) ?? (await get<Interrupt>(`/v1/interrupts/${id}`).catch(() => undefined));
  if (known) inbox.expired = [{ id, title: known.title }, ...inbox.expired];
}

function soon(): void {
  timer ??= setTimeout(() => {
    timer = undefined;
    void read();
  }, GATHER_MS);
}

const list = (which: typeof inbox.which): Promise<List<Interrupt>> =>
  get(`/v1/interrupts${query({ status: "open", snoozed: "false", limit: SHOWN, ...which })}`);

async function read(): Promise<void> {
  if (reading) {
    again = true;
    return;
  }
  reading = true;
  try {
    const page = await list(inbox.which);
    inbox.all = (Object.keys(inbox.which).length ? await list({}) : page).items;
    const known = new Set(inbox.items.map((item) => item.id));
    const n = page.items.filter((item) => !known.has(item.id)).length;
    if (inbox.loaded && n > 0) inbox.arrived = { n, reading: inbox.arrived.reading + 1 };
    inbox.items = page.items;
    inbox.more = Boolean(page.next_cursor);
    inbox.loaded = true;
  } catch {
    // The server is away or busy: the connection banner shows it, and the app reads again. A new sign-in reads with the
    // connection.
    if (session.door !== "signed_out") setTimeout(soon, AGAIN_MS);
  } finally {
    reading = false;
    if (again) {
      again = false;
      soon();
    }
  }
}
