// Converts the events of a run into the items of a conversation. Each event is processed once, and the same events
// always give the same items.
import type { Event } from "../../api/types";
import { around } from "./around";
import { after, made, proposed } from "./call";
import { at, list, number, text } from "./facts";
import type { Ask, Call, Item, Note } from "./items";

export class Story {
  readonly items: Item[] = [];
  /** Map from the id of a step that waits for its model's reply to the name of its agent. */
  readonly asking = new Map<string, string>();
  /** Ids of the calls that are running. */
  readonly running = new Set<string>();
  readonly #agents = new Map<string, string>();
  /** Ids of the interrupts of kind `turn` that were opened by an interruption. */
  readonly #turns = new Set<string>();
  /** Ids of the steps in which a model judges a call. Only the verdict of these steps is shown. */
  readonly #overseers = new Set<string>();
  /** Ids of the steps in which an agent writes a plan. The plan is shown on its card. */
  readonly planners = new Set<string>();
  readonly #calls = new Map<string, number>();
  /** Map from the id of an interrupt to the index of the item that shows it. */
  readonly #asks = new Map<string, number>();

  /** Returns the commands that a person can stop. A command that a client runs cannot be stopped here. */
  commands(): Call[] {
    const calls = [...this.running].map((id) => this.call(id));
    const isWithClient = (call: Call): boolean => call.asks.some((ask) => ask.kind === "client_call" && !ask.outcome);
    return calls.filter((call) => call !== undefined).filter((call) => call.tool === "run_command" && !call.isWriting && !isWithClient(call));
  }

  /** Returns true if a finished call changed the workspace, as far as the events show. */
  hasChanged(): boolean {
    return this.items.some((item) => item.type === "call" && item.end === "done" && (item.changed ?? 0) > 0);
  }

  call(id: string): Call | undefined {
    const item = this.items[this.#calls.get(id) ?? -1];
    return item?.type === "call" ? item : undefined;
  }

  tell(event: Event): void {
    const { data, at: when, seq, actor } = event;
    const place = { seq, at: when };
    const said = text(data, "content", "text");
    const step = text(data, "step");
    switch (event.type) {
      case "run_started":
        this.items.push({ type: "task", ...place, by: actor, input: at(data, "content", "data") });
        break;
      case "run_completed":
      case "run_failed":
      case "run_cancelled": {
        const status = event.type.slice("run_".length) as "completed" | "failed" | "cancelled";
        this.items.push({ type: "ended", ...place, status, reason: text(data, "reason"), text: said, by: actor });
        this.asking.clear();
        this.running.clear();
        break;
      }
      case "phase_started":
        this.items.push({ type: "divider", ...place, phase: text(data, "phase") });
        break;
      case "step_started":
        if (["overseer", "router", "summariser"].includes(text(data, "role"))) {
          this.#overseers.add(step);
          this.#agents.set(step, text(data, "agent"));
        } else {
          if (text(data, "role") === "planner") this.planners.add(step);
          this.#stepStarted(event);
        }
        break;
      case "handed_over":
        this.#agents.set(step, text(data, "to"));
        this.#note(event, "handed_over", "plain", { agent: text(data, "from"), to: text(data, "to") });
        break;
      case "task_routed":
        this.#note(event, "task_routed", "plain", { route: text(data, "route") });
        break;
      case "changes_undone":
        this.#note(event, "changes_undone", "hold", {});
        break;
      case "call_judged":
        this.#note(event, `call_judged_${text(data, "judgement")}`, text(data, "judgement") === "clear" ? "plain" : "hold", {});
        break;
      case "model_started":
        this.asking.set(step, this.#agent(step));
        break;
      case "call_made":
        this.#made(made(event, this.#agent(step)));
        break;
      case "model_replied":
        this.#replied(event);
        break;
      case "model_stopped":
        this.#replied(event);
        // The item above already shows the agent's text.
        this.#note({ ...event, data: {} }, event.type, "hold", { agent: this.#agent(step) });
        break;
      case "model_failed":
      case "model_lost":
        this.asking.delete(step);
        this.#note(event, at(data, "retry_at") ? "model_failed_retry" : event.type, "hold", { agent: this.#agent(step) });
        break;
      case "end_refused":
        this.#note(event, `end_refused_${text(data, "flaw")}`, "hold", { agent: this.#agent(step) });
        break;
      case "message_added":
        this.items.push({ type: "message", ...place, by: actor, text: said });
        break;
      case "note_added":
        if (this.#ask(text(data, "interrupt"))?.text !== said) this.#note(event, "note_added", "plain", { step });
        break;
      case "limit_reached":
        this.#note(event, "limit_reached", "hold", { step, limit: text(data, "limit"), value: number(data, "value") ?? 0 });
        break;
      case "run_interrupted":
      case "run_paused":
      case "run_resumed":
      case "run_suspended":
      case "run_unsuspended":
      case "adopted":
      case "limit_lifted":
      case "step_redone":
      case "step_retried":
      case "step_input_replaced":
        this.#note(event, event.type, "plain", { step });
        break;
      case "phase_ended":
      case "step_ended":
        if (text(data, "end") === "skipped")
          this.#note(event, `${event.type}_skipped`, "plain", { step, phase: text(data, "phase") });
        else if (text(data, "end") === "failed" && step) this.#note(event, "step_ended_failed", "hold", { step });
        break;
      case "interrupt_opened":
        this.#opened(event);
        break;
      case "decision_made":
        if (this.#turns.has(text(data, "interrupt"))) {
          const option = text(data, "option");
          if (option !== "submit") this.#note({ ...event, data: {} }, `turn_${option}`, "plain", {});
          break;
        }
        this.#decided(text(data, "interrupt"), {
          option: text(data, "option"),
          text: said,
          edited: at(data, "content", "data") !== undefined,
          by: actor,
        });
        break;
      case "interrupt_resolved":
        this.#decided(text(data, "interrupt"), { outcome: text(data, "outcome"), cause: at(data, "cause"), by: actor });
        break;
      default:
        this.#ofCall(event, text(data, "call"));
    }
  }

  #ofCall(event: Event, id: string): void {
    const call = this.call(id);
    const changed = call && after(call, event);
    if (!changed) return;
    this.#change(changed);
    if (changed.stage === "running" || changed.isTried) this.running.add(id);
    else this.running.delete(id);
  }

  #stepStarted({ data, seq, at: when }: Event): void {
    const step = text(data, "step");
    const agent = text(data, "agent");
    const phase = text(data, "phase");
    this.#agents.set(step, agent);
    const last = this.items.at(-1);
    // The first step of a phase uses the divider of the phase.
    if (last?.type === "divider" && last.phase === phase && !last.step) this.items[this.items.length - 1] = { ...last, step, agent };
    else this.items.push({ type: "divider", seq, at: when, phase, step, agent });
  }

  #replied(event: Event): void {
    const { data, seq, at: when } = event;
    const step = text(data, "step");
    const agent = this.#agent(step);
    this.asking.delete(step);
    if (this.#overseers.has(step)) return;
    const whole = text(data, "content", "text");
    // The plan is removed from the text, because the card shows the plan.
    const said = this.planners.has(step) ? around(whole) : whole;
    if (said.trim()) this.items.push({ type: "said", seq, at: when, agent, text: said });
    list(data, "calls").forEach((_, i) => {
      this.#made(proposed(event, i, agent));
    });
  }

  #made(call: Call): void {
    this.#calls.set(call.id, this.items.length);
    this.items.push(call);
  }

  #opened({ data, seq, at: when }: Event): void {
    // The person's text becomes a message. The event before this event names the person who interrupted.
    if (text(data, "about") === "interruption") {
      this.#turns.add(text(data, "interrupt"));
      return;
    }
    const content = at(data, "content", "data");
    const ask: Ask = {
      interrupt: text(data, "interrupt"),
      kind: text(data, "kind"),
      title: text(content, "title"),
      message: text(content, "message"),
      payload: at(content, "payload"),
      options: list(data, "options"),
    };
    const call = this.call(text(data, "about", "call"));
    if (call) {
      this.#asks.set(ask.interrupt, this.#calls.get(call.id) ?? -1);
      this.#change({ ...call, asks: [...call.asks, ask] });
    } else {
      this.#asks.set(ask.interrupt, this.items.length);
      this.items.push({ type: "asked", seq, at: when, agent: text(data, "agent"), ask });
    }
  }

  #ask(interrupt: string): Ask | undefined {
    const item = this.items[this.#asks.get(interrupt) ?? -1];
    if (item?.type === "asked") return item.ask;
    return item?.type === "call" ? item.asks.find((ask) => ask.interrupt === interrupt) : undefined;
  }

  #decided(interrupt: string, changes: Partial<Ask>): void {
    const place = this.#asks.get(interrupt) ?? -1;
    const item = this.items[place];
    if (item?.type === "asked") this.items[place] = { ...item, ask: { ...item.ask, ...changes } };
    if (item?.type === "call") {
      const asks = item.asks.map((ask) => (ask.interrupt === interrupt ? { ...ask, ...changes } : ask));
      this.items[place] = { ...item, asks };
    }
  }

  #change(call: Call): void {
    const place = this.#calls.get(call.id);
    if (place !== undefined) this.items[place] = call;
  }

  #agent(step: string): string {
    return this.#agents.get(step) ?? step;
  }

  #note(event: Event, what: string, tone: Note["tone"], values: Note["values"]): void {
    const said = text(event.data, "content", "text");
    this.items.push({ type: "note", seq: event.seq, at: event.at, by: event.actor, what, tone, values, text: said });
  }
}
