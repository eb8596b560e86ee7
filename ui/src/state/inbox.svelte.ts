// What waits for a person: the open interrupts in the server's order. Fills by itself while the page is open.
import { get, query } from "../api/client";
import type { Event, Interrupt, List, Vote } from "../api/types";
import { route } from "./route.svelte";
import { live, session } from "./session.svelte";

/** More than a person reads at once; the server has the rest. */
export const SHOWN = 200;
/** Events come in bursts; one reading serves them all. */
const GATHER_MS = 60;
const AGAIN_MS = 2_000;

export const inbox = $state({
  items: [] as Interrupt[],
  /** All that waits for whoever is signed in, whichever are shown. */
  all: [] as Interrupt[],
  more: false,
  loaded: false,
  /** Which are shown: all that whoever is signed in may see, those that name them, or those of their groups. */
  which: {} as { assignee?: "me"; group?: "mine" },
  /** How many came with the last reading that brought any, and which reading: for those who hear the page. */
  arrived: { n: 0, reading: 0 },
  /** What expired while the page was open, until somebody has seen it. */
  expired: [] as { id: string; title: string }[],
});

/** The vote of somebody, where it agrees with the newest: any other one is reset, or settles nothing. Where one person may
 *  agree in several stages, that of the stage that it is at. */
export function standing({ votes = [], assignment }: Interrupt, who: string | undefined): Vote | undefined {
  const newest = votes.at(-1);
  const { distinct, stage } = assignment;
  const own = votes.find((vote) => vote.by === who && (distinct !== false || (vote.stage ?? stage) === stage));
  return own && newest && own.option === newest.option && own.edit_of === newest.edit_of ? own : undefined;
}

/** How many wait for whoever is signed in: what others decide, and what waits for others after their vote, does not. */
export const waiting = (): number =>
  inbox.all.filter((item) => item.you?.may_decide !== false && !standing(item, session.me?.person)).length;

type Listener = (event: Event) => void;
const listeners = new Set<Listener>();
let timer: ReturnType<typeof setTimeout> | undefined;
let reading = false;
let again = false;

/** Hears of every interrupt that opens, is decided on or resolved. */
export function whenInboxChanges(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Shows others. */
export function show(which: typeof inbox.which): void {
  inbox.which = which;
  // What comes now has not just arrived.
  inbox.loaded = false;
  soon();
}

/** Somebody has taken note of what expired. */
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

/** It leaves the list by itself: nobody would know that it had been there. */
async function noteExpiry(data: unknown): Promise<void> {
  const { interrupt: id, cause } = data as { interrupt: string; cause: string };
  // Whoever has its card open sees how it ends.
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
    // Away, or busy: the connection says so, and it is read again. Whoever signs in again reads it with the connection.
    if (session.door !== "signed_out") setTimeout(soon, AGAIN_MS);
  } finally {
    reading = false;
    if (again) {
      again = false;
      soon();
    }
  }
}
