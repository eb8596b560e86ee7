// The app's only WebSocket. It reconnects automatically and resumes each subscription after the last received event.
// Each subscriber therefore gets each event exactly once, even if the server restarts.
import type { ClientFrame, ServerFrame, Topic } from "./frames";
import { secret } from "./secret";
import type { Event, Preview, ProblemBody } from "./types";

export type Connection = "connecting" | "open" | "lost";

export interface Follow {
  topic: Topic;
  run?: string;
  /** Sequence number of the last known event. For runs only. */
  since?: number;
  previews?: boolean;
  event: (event: Event) => void;
  preview?: (preview: Preview) => void;
  /** Called when the subscription is active. Data that was read before may be stale. */
  started?: () => void;
}

interface Subscription extends Follow {
  id: string;
  position?: string;
  /** True if an event of the subscription is unreadable. */
  isBroken?: boolean;
}

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;
/** Time without any frame, including replies to our pings, after which the connection is considered dead. */
const SILENCE_MS = 40_000;
const PING_MS = 15_000;
/** Delay before the app subscribes again after the server has ended a subscription. */
const AGAIN_MS = 2_000;
const UNAUTHENTICATED = 4401;

export class Live {
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #changed: (connection: Connection) => void;
  /** Resolves to true if this browser is still signed in, or if no server responds. */
  readonly #mayStay: () => Promise<boolean>;
  #socket: WebSocket | undefined;
  #welcome = false;
  #wait = FIRST_WAIT_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ping: ReturnType<typeof setInterval> | undefined;
  #heard = 0;
  #next = 1;
  #stopped = true;

  constructor(changed: (connection: Connection) => void, mayStay: () => Promise<boolean>) {
    this.#changed = changed;
    this.#mayStay = mayStay;
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

  /** Follows a topic until the returned function is called. */
  follow(follow: Follow): () => void {
    const subscription: Subscription = { ...follow, id: `s${this.#next++}` };
    this.#subscriptions.set(subscription.id, subscription);
    if (this.#welcome) this.#subscribe(subscription);
    return () => {
      this.#subscriptions.delete(subscription.id);
      if (this.#welcome) this.#send({ type: "unsubscribe", id: subscription.id });
    };
  }

  /** Reconnects at once when the person returns to the page, without waiting for the timer. */
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
    socket.onclose = (closed) => void this.#closed(socket, closed.code);
    this.#ping = setInterval(() => {
      if (Date.now() - this.#heard > SILENCE_MS) socket.close();
      else if (this.#welcome) this.#send({ type: "ping" });
    }, PING_MS);
  }

  async #closed(socket: WebSocket, code: number): Promise<void> {
    if (socket !== this.#socket) return;
    this.#drop();
    if (code === UNAUTHENTICATED && !(await this.#mayStay())) return;
    if (this.#stopped || this.#socket) return;
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
        subscription.isBroken = false;
        subscription.position = frame.position ?? subscription.position;
        subscription.started?.();
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
        this.#ended(subscription);
        break;
      case "error":
        this.#refused(subscription, frame.problem);
        break;
      default:
        break;
    }
  }

  /**
   * Handles a rejected subscription. If its position belongs to a different journal, for example after a backup was
   * restored, the subscription starts from the beginning.
   */
  #refused(subscription: Subscription, problem: ProblemBody): void {
    if (problem.errors?.some((error) => error.pointer === "/position")) {
      subscription.position = undefined;
      this.#subscribe(subscription);
    } else {
      subscription.isBroken = true;
    }
  }

  /**
   * Handles the end of a subscription. The subscription of a finished run is removed, because no more events follow.
   * Any other subscription resumes from its position.
   */
  #ended(subscription: Subscription): void {
    if (subscription.topic === "run" && !subscription.isBroken) {
      this.#subscriptions.delete(subscription.id);
      return;
    }
    setTimeout(() => {
      if (this.#welcome && this.#subscriptions.has(subscription.id)) this.#subscribe(subscription);
    }, AGAIN_MS);
  }

  #subscribe({ id, topic, run, since, position, previews }: Subscription): void {
    this.#send({ type: "subscribe", id, topic, run, since, position, previews });
  }

  #send(frame: ClientFrame): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }
}
