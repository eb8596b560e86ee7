// Who is signed in, what runs on the server, and the connection to it. One per page.
import { get, post, remove, whenSignedOut } from "../api/client";
import { type Connection, Live } from "../api/live";
import { secret } from "../api/secret";
import type { Info } from "../api/types";

type Door = "opening" | "signed_in" | "signed_out";

export const session = $state({
  door: "opening" as Door,
  person: "",
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
    // Another program may listen there now.
    void readInfo();
  }
}, isSignedIn);

async function isSignedIn(): Promise<boolean> {
  await get("/v1/login").catch(() => undefined);
  return session.door !== "signed_out";
}

whenSignedOut(signedOut);

async function readInfo(): Promise<void> {
  session.info = await get<Info>("/v1/info").catch(() => session.info);
}

/** Goes in with what an earlier login left in this browser. */
export async function open(): Promise<void> {
  if (!secret.read()) {
    session.door = "signed_out";
    return;
  }
  try {
    const me = await get<{ person: string }>("/v1/login");
    enter(me.person);
  } catch {
    // 401 has closed the door already; a server that is away is waited for.
    if (session.door === "opening") enter("");
  }
}

function enter(person: string): void {
  session.person = person;
  session.door = "signed_in";
  live.start();
}

/** Redeems the code of a login link. */
export async function redeem(code: string): Promise<void> {
  const login = await post<{ secret: string; person: string }>("/v1/login", { code });
  secret.keep(login.secret);
  enter(login.person);
}

export async function leave(): Promise<void> {
  await remove("/v1/login").catch(() => undefined);
  secret.forget();
  signedOut();
}
