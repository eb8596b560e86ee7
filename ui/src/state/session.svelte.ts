// The signed-in person, facts about the server, and the connection to the server. There is one session state per page.
import { get, post, remove, whenSignedOut } from "../api/client";
import { type Connection, Live } from "../api/live";
import { secret } from "../api/secret";
import type { Identity, Info, List } from "../api/types";

type Door = "opening" | "signed_in" | "signed_out";

export const session = $state({
  door: "opening" as Door,
  /** The signed-in person. Undefined until the server has responded. */
  me: undefined as Identity | undefined,
  /** True if there are people other than the local operator. */
  others: false,
  connection: "connecting" as Connection,
  /** True if the connection was open at least once. A lost connection is reported only then. */
  wasOpen: false,
  info: undefined as Info | undefined,
});

function signedOut(): void {
  session.door = "signed_out";
  live.stop();
}

export const live = new Live((connection) => {
  session.connection = connection;
  if (connection === "open") {
    // After a reconnect, the server may have been updated, and the person's roles may have changed.
    const isKnown = !session.wasOpen && session.me !== undefined;
    session.wasOpen = true;
    void (isKnown ? Promise.resolve() : readMe()).then(readInfo, () => undefined);
  }
}, isSignedIn);

async function isSignedIn(): Promise<boolean> {
  await get("/v1/login").catch(() => undefined);
  return session.door !== "signed_out";
}

whenSignedOut(signedOut);

async function readInfo(): Promise<void> {
  if (seesAll()) session.info = await get<Info>("/v1/info").catch(() => session.info);
}

/**
 * Returns true if the person may see objects that no assignment names. A person whose only role is reviewer may not.
 */
export const seesAll = (): boolean => session.me?.roles.some((role) => role !== "reviewer") !== false;

async function readMe(): Promise<void> {
  const me = await get<Identity>("/v1/login");
  session.others = me.person !== "operator" || (await get<List<unknown>>("/v1/people")).items.length > 1;
  session.me = me;
}

/** Signs in with the secret of an earlier login in this browser. */
export async function open(): Promise<void> {
  if (!secret.read()) {
    session.door = "signed_out";
    return;
  }
  try {
    await readMe();
  } catch {
    // If the status was 401, the browser is already signed out. If the server is unreachable, the app waits.
    if (session.door === "signed_out") return;
  }
  session.door = "signed_in";
  live.start();
}

/** Redeems the code of a login link or of an identity provider's sign-in. Returns the URL to open next. */
export async function redeem(code: string): Promise<string> {
  const login = await post<{ secret: string; to?: string }>("/v1/login", { code });
  secret.keep(login.secret);
  session.door = "opening";
  await open();
  return login.to ?? "/";
}

/**
 * Signs out in this browser, or in all browsers and terminals. If the server is unreachable, a sign-out everywhere
 * changes nothing, and this browser stays signed in too.
 */
export async function leave(everywhere = false): Promise<void> {
  if (everywhere) await remove("/v1/logins");
  else await remove("/v1/login").catch(() => undefined);
  secret.forget();
  signedOut();
}
