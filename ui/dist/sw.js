// The service worker: shows what is pushed to this browser, and opens the page where it is decided. Decides nothing, keeps
// nothing, and answers no request of a page. What is pushed is made in `crates/notify/src/format/push.rs`.

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("push", (event) => event.waitUntil(show(event.data)));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(place(event.notification.data?.url)));
});

/** A browser has to show something for each message, also for one that can not be read. */
function show(data) {
  let { title = "Holdshort", body = "", url = "/", tag = "" } = {};
  try {
    ({ title, body, url, tag } = data.json());
  } catch {
    // It leads to the inbox.
  }
  // A later one with the same tag takes the place of the one before.
  return self.registration.showNotification(String(title), {
    body: String(body),
    tag: String(tag),
    icon: "/favicon.svg",
    data: { url: String(url) },
  });
}

/** Within this server, whatever it was called when the message was written. */
function place(url) {
  try {
    return new URL(new URL(url, self.location.origin).pathname, self.location.origin).href;
  } catch {
    return self.location.origin;
  }
}

/** In a window that is open already, where there is one. */
async function open(url) {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  for (const window of windows) {
    try {
      if (window.url !== url) await window.navigate(url);
      return await window.focus();
    } catch {
      // It is not this worker's, or has gone.
    }
  }
  return self.clients.openWindow(url);
}
