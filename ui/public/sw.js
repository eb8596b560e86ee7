// Service worker: shows pushed notifications and opens the page on which a person decides. It decides nothing, stores
// nothing, and answers no request of a page. `crates/notify/src/format/push.rs` builds the messages.

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("push", (event) => event.waitUntil(show(event.data)));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(place(event.notification.data?.url)));
});

/** Shows a notification for every message, because browsers require one. A message that cannot be read gets a default
 * one. */
function show(data) {
  let { title = "Holdshort", body = "", url = "/", tag = "" } = {};
  try {
    ({ title, body, url, tag } = data.json());
  } catch {
    // The default notification leads to the inbox.
  }
  // A later notification with the same tag replaces the earlier one.
  return self.registration.showNotification(String(title), {
    body: String(body),
    tag: String(tag),
    icon: "/favicon.svg",
    data: { url: String(url) },
  });
}

/** Returns the address on this server, whichever host name the message was written with. */
function place(url) {
  try {
    return new URL(new URL(url, self.location.origin).pathname, self.location.origin).href;
  } catch {
    return self.location.origin;
  }
}

/** Opens the address in an existing window if there is one, else in a new window. */
async function open(url) {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  for (const window of windows) {
    try {
      if (window.url !== url) await window.navigate(url);
      return await window.focus();
    } catch {
      // The window is not controlled by this worker, or is closed.
    }
  }
  return self.clients.openWindow(url);
}
