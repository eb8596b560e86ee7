// This browser as one that tells its person (the Push API): asked of the browser, subscribed at its push service, told to
// the server. What a browser has to subscribe again is switched on again by its person.
import { get, post, remove } from "../../api/client";
import type { PushSubscription as Known, PushSubscriptions } from "../../api/types";

/** Some browsers lack it, and each does where the page came over a connection that does not count as safe. */
export const canBeTold = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

export interface Told {
  /** What a browser subscribes with. Without it no channel tells browsers. */
  key?: string | null;
  /** This browser, where it tells whoever is signed in. */
  here?: Known;
  others: Known[];
}

interface Policies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}
// The page takes no address of a script from anywhere else (`trusted-types` of its policy).
const worker = (window as { trustedTypes?: Policies }).trustedTypes?.createPolicy("holdshort-worker", {
  createScriptURL: () => "/sw.js",
});

export async function readTold(): Promise<Told> {
  const { key, items } = await get<PushSubscriptions>("/v1/me/push");
  const own = await subscribed();
  // What is pushed with another key never comes here.
  const isReached = own && key && base64url(own.options.applicationServerKey) === key;
  const digest = isReached && (await sha256(own.endpoint));
  const here = items.find((item) => item.endpoint_sha256 === digest);
  return { key, here, others: items.filter((item) => item !== here) };
}

/** Where this browser tells already: a server whose folder lost what is kept of it knows that it does, and not where it is. */
export async function keepTold(): Promise<void> {
  const [{ here }, own] = [await readTold(), await subscribed()];
  if (here && own) await tell(own);
}

/** False where the person, or the browser, does not let it. */
export async function tellHere(key: string): Promise<boolean> {
  if ((await Notification.requestPermission()) !== "granted") return false;
  const registration = await navigator.serviceWorker.register(worker?.createScriptURL("") ?? "/sw.js", { scope: "/" });
  await navigator.serviceWorker.ready;
  // One of another key, or of somebody who was signed in before.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  const own = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  try {
    await tell(own);
  } catch (error) {
    await own.unsubscribe();
    throw error;
  }
  return true;
}

/** This browser, or another one of theirs. */
export async function tellNoMore(browser: Known, isHere: boolean): Promise<void> {
  await remove(`/v1/me/push/${browser.id}`);
  if (isHere) await (await subscribed())?.unsubscribe();
}

async function tell(own: PushSubscription): Promise<void> {
  const { endpoint, keys } = own.toJSON();
  await post("/v1/me/push", { endpoint, p256dh: keys?.p256dh, auth: keys?.auth });
}

async function subscribed(): Promise<PushSubscription | null | undefined> {
  return (await navigator.serviceWorker.getRegistration("/"))?.pushManager.getSubscription();
}

function base64url(bytes: ArrayBuffer | null): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0))));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
