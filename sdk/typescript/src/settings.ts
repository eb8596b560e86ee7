// Settings of a client, from its options and the environment.

import { readFile } from "node:fs/promises";
import { NotConfigured } from "./errors.js";

/** Options of a client. Everything that is absent comes from the environment. */
export interface Settings {
  /** Address of the server. Defaults to `HOLDSHORT_URL`, then to `http://127.0.0.1:7349`. */
  url?: string;
  /**
   * Token of the agent, or a function that returns it. The function is called again when the token was rotated.
   * Defaults to the file `HOLDSHORT_AGENT_TOKEN_FILE`, then to `HOLDSHORT_AGENT_TOKEN`.
   */
  token?: string | (() => string | Promise<string>);
  /** Address at which people open the server, for links. Defaults to `HOLDSHORT_PUBLIC_URL`, then to `url`. */
  publicUrl?: string;
  /** Milliseconds for which a failed request is repeated. Defaults to 60,000. Waits for decisions have no limit. */
  retryForMs?: number;
  /** Receives the log lines, such as the link to each request. Defaults to standard error. `false` turns them off. */
  log?: ((line: string) => void) | false;
  /** Replacement for `fetch`. */
  fetch?: typeof fetch;
}

const DEFAULT_URL = "http://127.0.0.1:7349";

/** Returns the base address without a final slash. */
export function baseUrl(url: string | undefined, variable: string, otherwise: string): string {
  const text = url ?? process.env[variable] ?? otherwise;
  if (!URL.canParse(text)) throw new NotConfigured(`${variable} is not a URL: use http://HOST:PORT or https://HOST`);
  const { protocol, origin, pathname, username, password } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:") {
    throw new NotConfigured(`${variable} must begin with http:// or https://`);
  }
  if (username || password) throw new NotConfigured(`${variable} must not contain a name or a password`);
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}

/** Returns the addresses of the server: for requests, and for links. */
export function addresses(settings: Settings): { url: string; publicUrl: string } {
  const url = baseUrl(settings.url, "HOLDSHORT_URL", DEFAULT_URL);
  return { url, publicUrl: baseUrl(settings.publicUrl, "HOLDSHORT_PUBLIC_URL", url) };
}

/** Reads the token. */
export async function readToken(source: Settings["token"]): Promise<string> {
  const token = (await read(source)).trim();
  if (token === "") {
    throw new NotConfigured("no agent token: set HOLDSHORT_AGENT_TOKEN or HOLDSHORT_AGENT_TOKEN_FILE");
  }
  if (!/^[\x21-\x7e]+$/.test(token)) throw new NotConfigured("the agent token contains invalid characters");
  return token;
}

async function read(source: Settings["token"]): Promise<string> {
  if (typeof source !== "function") return source ?? fromEnvironment();
  try {
    return await source();
  } catch (error) {
    throw new NotConfigured("the function that returns the agent token failed", { cause: error });
  }
}

async function fromEnvironment(): Promise<string> {
  const file = process.env.HOLDSHORT_AGENT_TOKEN_FILE;
  if (file === undefined) return process.env.HOLDSHORT_AGENT_TOKEN ?? "";
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new NotConfigured(`HOLDSHORT_AGENT_TOKEN_FILE cannot be read: ${code}`);
  }
}
