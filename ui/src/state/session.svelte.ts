// The signed-in person, facts about the server, and the connection to it. One per page.
import { get, post, remove, whenSignedOut } from "../api/client";
import { type Connection, Live } from "../api/live";
import { secret } from "../api/secret";
import type { Identity, Info, List } from "../api/types";

type Door = "opening" | "signed_in" | "signed_out";

export const session = $state({
  door: "opening" as Door,
  /** The signed-in person. Undefined until the server has answered. */
  me: undefined as Identity | undefined,
  /** True if there are people other than the local operator. */
  others: false,
  connection: "connecting" as Connection,
  /** True if the connection was open before. Only then is its loss reported. */
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
    session.wasOpen = true;
    // Another server version may listen there now, and the person's roles may have changed.
    void readMe().then(readInfo, () => undefined);
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

/** Returns true if the person may see things without an owner. A reviewer may not. */
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
    // A 401 has signed the browser out already. For a server that is away, the app waits.
    if (session.door === "signed_out") return;
  }
  session.door = "signed_in";
  live.start();
}

/** Redeems the code of a login link or of a provider's sign-in. Returns the address to open next. */
export async function redeem(code: string): Promise<string> {
  const login = await post<{ secret: string; to?: string }>("/v1/login", { code });
  secret.keep(login.secret);
  session.door = "opening";
  await open();
  return login.to ?? "/";
}

/** Signs out here, or in all browsers and terminals. If the server cannot be reached for all, every login stays, this
 *  one included. */
export async function leave(everywhere = false): Promise<void> {
  if (everywhere) await remove("/v1/logins");
  else await remove("/v1/login").catch(() => undefined);
  secret.forget();
  signedOut();
}
