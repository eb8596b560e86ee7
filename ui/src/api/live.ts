// The one WebSocket of the app. Connects again by itself, resumes each subscription after the last event that it saw,
// so whoever follows gets every event once, across restarts of the server.
import type { ClientFrame, ServerFrame, Topic } from "./frames";
import { secret } from "./secret";
import type { Event, Preview, ProblemBody } from "./types";

export type Connection = "connecting" | "open" | "lost";

export interface Follow {
  topic: Topic;
  run?: string;
  /** Of a run: the last event that is known. */
  since?: number;
  previews?: boolean;
  event: (event: Event) => void;
  preview?: (preview: Preview) => void;
  /** The subscription stands; `fresh` where it starts now instead of after what was seen: read everything again. */
  started?: (fresh: boolean) => void;
  ended?: () => void;
  /** What follows can not be read. */
  failed?: (problem: ProblemBody) => void;
}

interface Subscription extends Follow {
  id: string;
  position?: string;
}

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;
/** Nothing heard for this long, answers to our own pings included: the connection is dead. */
const SILENCE_MS = 40_000;
const PING_MS = 15_000;
const UNAUTHENTICATED = 4401;

export class Live {
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #changed: (connection: Connection) => void;
  readonly #signedOut: () => void;
  #socket: WebSocket | undefined;
  #welcome = false;
  #wait = FIRST_WAIT_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ping: ReturnType<typeof setInterval> | undefined;
  #heard = 0;
  #next = 1;
  #stopped = true;

  constructor(changed: (connection: Connection) => void, signedOut: () => void) {
    this.#changed = changed;
    this.#signedOut = signedOut;
  }

  start(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    addEventListener("online", this.#now);
    document.addEventListener("visibilitychange", this.#now);
    this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    removeEventListener("online", this.#now);
    document.removeEventListener("visibilitychange", this.#now);
    clearTimeout(this.#timer);
    this.#drop();
  }

  /** Follows until the answer is called. */
  follow(follow: Follow): () => void {
    const subscription: Subscription = { ...follow, id: `s${this.#next++}` };
    this.#subscriptions.set(subscription.id, subscription);
    if (this.#welcome) this.#subscribe(subscription);
    return () => {
      this.#subscriptions.delete(subscription.id);
      if (this.#welcome) this.#send({ type: "unsubscribe", id: subscription.id });
    };
  }

  /** Whoever comes back to the page does not wait for the timer. */
  #now = (): void => {
    if (this.#stopped || this.#socket || document.hidden) return;
    clearTimeout(this.#timer);
    this.#connect();
  };

  #connect(): void {
    this.#changed("connecting");
    const address = new URL("/v1/ws", location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    this.#socket = socket;
    this.#heard = Date.now();
    socket.onopen = () => this.#send({ type: "hello", secret: secret.read() ?? undefined });
    socket.onmessage = (message: MessageEvent<string>) => this.#read(JSON.parse(message.data) as ServerFrame);
    socket.onclose = (closed) => this.#closed(socket, closed.code);
    this.#ping = setInterval(() => {
      if (Date.now() - this.#heard > SILENCE_MS) socket.close();
      else if (this.#welcome) this.#send({ type: "ping" });
    }, PING_MS);
  }

  #closed(socket: WebSocket, code: number): void {
    if (socket !== this.#socket) return;
    this.#drop();
    if (code === UNAUTHENTICATED) {
      this.#signedOut();
      return;
    }
    if (this.#stopped) return;
    this.#changed("lost");
    this.#timer = setTimeout(() => this.#connect(), this.#wait * (0.75 + Math.random() / 2));
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
  }

  #drop(): void {
    clearInterval(this.#ping);
    const socket = this.#socket;
    this.#socket = undefined;
    this.#welcome = false;
    socket?.close();
  }

  #read(frame: ServerFrame): void {
    this.#heard = Date.now();
    if (frame.type === "welcome") {
      this.#welcome = true;
      this.#wait = FIRST_WAIT_MS;
      for (const subscription of this.#subscriptions.values()) this.#subscribe(subscription);
      this.#changed("open");
      return;
    }
    const subscription = "id" in frame && frame.id ? this.#subscriptions.get(frame.id) : undefined;
    if (!subscription) return;
    switch (frame.type) {
      case "subscribed": {
        const fresh = subscription.topic !== "run" && subscription.position === undefined;
        subscription.position = frame.position ?? subscription.position;
        subscription.started?.(fresh);
        break;
      }
      case "event":
        subscription.position = frame.event.position ?? subscription.position;
        if (subscription.topic === "run") subscription.since = frame.event.seq;
        subscription.event(frame.event);
        break;
      case "preview":
        subscription.preview?.(frame.preview);
        break;
      case "ended":
        this.#subscriptions.delete(subscription.id);
        subscription.ended?.();
        break;
      case "error":
        this.#refused(subscription, frame.problem);
        break;
      default:
        break;
    }
  }

  /** A position of another journal, such as after a restored backup: start afresh. */
  #refused(subscription: Subscription, problem: ProblemBody): void {
    if (problem.errors?.some((error) => error.pointer === "/position")) {
      subscription.position = undefined;
      this.#subscribe(subscription);
    } else {
      subscription.failed?.(problem);
    }
  }

  #subscribe({ id, topic, run, since, position, previews }: Subscription): void {
    this.#send({ type: "subscribe", id, topic, run, since, position, previews });
  }

  #send(frame: ClientFrame): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }
}
