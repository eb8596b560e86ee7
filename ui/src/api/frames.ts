// Frames of the WebSocket `/v1/ws` that the app sends and receives, as described in docs/asyncapi.json.
import type { Event, Preview, ProblemBody } from "./types";

export type Topic = "inbox" | "run" | "all";

export type ClientFrame =
  | { type: "hello"; secret?: string }
  | { type: "subscribe"; id: string; topic: Topic; run?: string; since?: number; position?: string; previews?: boolean }
  | { type: "unsubscribe"; id: string }
  | { type: "ping" };

export type ServerFrame =
  | { type: "welcome"; person: string; role: string; version: string; ping_ms: number }
  | { type: "subscribed"; id: string; position?: string; seq?: number }
  | { type: "event"; id: string; event: Event }
  | { type: "preview"; id: string; preview: Preview }
  | { type: "ended"; id: string }
  | { type: "error"; id?: string; problem: ProblemBody }
  | { type: "closing"; reason: string }
  | { type: "pong" };
