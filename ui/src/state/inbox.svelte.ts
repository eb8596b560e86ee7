// The inbox: the open interrupts in the server's order. It is updated while the page is open.
import { get, query } from "../api/client";
import type { Event, Interrupt, List, Vote } from "../api/types";
import { route } from "./route.svelte";
import { live, session } from "./session.svelte";

/** Maximum number of rows. Further interrupts stay on the server. */
export const SHOWN = 200;
/** Delay in which events are collected before one read. */
const GATHER_MS = 60;
const AGAIN_MS = 2_000;

export const inbox = $state({
  items: [] as Interrupt[],
  /** All open interrupts that the signed-in person can see, regardless of the filter. */
  all: [] as Interrupt[],
  more: false,
  loaded: false,
  /**
   * Filter of the list: all visible interrupts, interrupts that name the person, or interrupts of the person's groups.
   */
  which: {} as { assignee?: "me"; group?: "mine" },
  /**
   * `n`: number of new interrupts that the newest read with new interrupts found. `reading`: number of reads that
   * found new interrupts. Screen readers announce each change.
   */
  arrived: { n: 0, reading: 0 },
  /** Interrupts that expired while the page was open. Each is removed when the person dismisses it. */
  expired: [] as { id: string; title: string }[],
});

/**
 * Returns the vote of a person if it agrees with the newest vote. Any other vote was reset, or does not contribute. If
 * one person may vote in several stages, returns the person's vote in the current stage.
 */
export function standing({ votes = [], assignment }: Interrupt, who: string | undefined): Vote | undefined {
  const newest = votes.at(-1);
  const { distinct, stage } = assignment;
  const own = votes.find((vote) => vote.by === who && (distinct !== false || (vote.stage ?? stage) === stage));
  return own && newest && own.option === newest.option && own.edit_of === newest.edit_of ? own : undefined;
}

/**
 * Returns the number of interrupts that wait for the signed-in person. Excludes interrupts on which only other people
 * decide, and interrupts on which the person has already voted.
 */
export const waiting = (): number =>
  inbox.all.filter((item) => item.you?.may_decide !== false && !standing(item, session.me?.person)).length;

type Listener = (event: Event) => void;
const listeners = new Set<Listener>();
let timer: ReturnType<typeof setTimeout> | undefined;
let reading = false;
let again = false;

/** Calls the listener for every interrupt that is opened, decided on or resolved. */
export function whenInboxChanges(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Changes the filter of the list. */
export function show(which: typeof inbox.which): void {
  inbox.which = which;
  // Interrupts that the new filter adds are not announced as new.
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

/** Adds a note about an expired interrupt, so that the person notices why it is no longer in the list. */
async function noteExpiry(data: unknown): Promise<void> {
  const { interrupt: id, cause } = data as { interrupt: string; cause: string };
  // If the person has the card open, the card shows the outcome.
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
    // The server is unreachable or busy. The connection banner shows this, and the app tries to read again. After a new
    // sign-in, the new connection triggers the read.
    if (session.door !== "signed_out") setTimeout(soon, AGAIN_MS);
  } finally {
    reading = false;
    if (again) {
      again = false;
      soon();
    }
  }
}
