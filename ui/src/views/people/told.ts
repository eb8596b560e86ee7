// Push notifications of this browser (Push API): the person's permission, the subscription at the push service, and the
// registration at the server. If the browser loses its subscription, the person must switch notifications on again.
import { get, post, remove } from "../../api/client";
import type { PushSubscription as Known, PushSubscriptions } from "../../api/types";

/**
 * True if the browser supports the Push API. Some browsers do not, and all browsers disable it on insecure
 * connections.
 */
export const canBeTold = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

export interface Told {
  /** The server's public key for subscriptions. Absent if no push channel is configured. */
  key?: string | null;
  /** This browser's registration. Present if the browser shows notifications for the signed-in person. */
  here?: Known;
  others: Known[];
}

interface Policies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}
// The content security policy (`trusted-types`) accepts a worker script only from this URL.
const worker = (window as { trustedTypes?: Policies }).trustedTypes?.createPolicy("holdshort-worker", {
  createScriptURL: () => "/sw.js",
});

export async function readTold(): Promise<Told> {
  const { key, items } = await get<PushSubscriptions>("/v1/me/push");
  const own = await subscribed();
  // A subscription with another key cannot receive notifications from this server.
  const isReached = own && key && base64url(own.options.applicationServerKey) === key;
  const digest = isReached && (await sha256(own.endpoint));
  const here = items.find((item) => item.endpoint_sha256 === digest);
  return { key, here, others: items.filter((item) => item !== here) };
}

/**
 * Sends the subscription to the server again if this browser is registered. If the server lost its stored secrets, it
 * knows the registration but not its endpoint.
 */
export async function keepTold(): Promise<void> {
  const [{ here }, own] = [await readTold(), await subscribed()];
  if (here && own) await tell(own);
}

/** Subscribes this browser. Returns false if the person or the browser denies permission. */
export async function tellHere(key: string): Promise<boolean> {
  if ((await Notification.requestPermission()) !== "granted") return false;
  const registration = await navigator.serviceWorker.register(worker?.createScriptURL("") ?? "/sw.js", { scope: "/" });
  await navigator.serviceWorker.ready;
  // Removes a subscription that has another key or belongs to an earlier person.
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

/** Removes the registration of this browser or of another browser of the person. */
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
