// Who is signed in, what runs on the server, and the connection to it. One per page.
import { get, post, remove, whenSignedOut } from "../api/client";
import { type Connection, Live } from "../api/live";
import { secret } from "../api/secret";
import type { Identity, Info, List } from "../api/types";

type Door = "opening" | "signed_in" | "signed_out";

export const session = $state({
  door: "opening" as Door,
  /** Who is signed in. Nothing while the server has not said it. */
  me: undefined as Identity | undefined,
  /** There is somebody beside the operator of this machine. */
  others: false,
  connection: "connecting" as Connection,
  /** Once it was there: what a lost connection is said about. */
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
    // Another program may listen there now, and somebody's roles may be others.
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

/** Whether they see what is nobody's own: a reviewer does not. */
export const seesAll = (): boolean => session.me?.roles.some((role) => role !== "reviewer") !== false;

async function readMe(): Promise<void> {
  const me = await get<Identity>("/v1/login");
  session.others = me.person !== "operator" || (await get<List<unknown>>("/v1/people")).items.length > 1;
  session.me = me;
}

/** Goes in with what an earlier login left in this browser. */
export async function open(): Promise<void> {
  if (!secret.read()) {
    session.door = "signed_out";
    return;
  }
  try {
    await readMe();
  } catch {
    // 401 has closed the door already; a server that is away is waited for.
    if (session.door === "signed_out") return;
  }
  session.door = "signed_in";
  live.start();
}

/** Redeems the code of a login link, or of a sign-in at the provider: where to go then. */
export async function redeem(code: string): Promise<string> {
  const login = await post<{ secret: string; to?: string }>("/v1/login", { code });
  secret.keep(login.secret);
  session.door = "opening";
  await open();
  return login.to ?? "/";
}

/** Here, or in all browsers and terminals: where the server can not be asked, they stay signed in, and so does this one. */
export async function leave(everywhere = false): Promise<void> {
  if (everywhere) await remove("/v1/logins");
  else await remove("/v1/login").catch(() => undefined);
  secret.forget();
  signedOut();
}
