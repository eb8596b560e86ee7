// The current view, read from the address bar. Links are plain links. A click on a link to another view stays in the
// app. A view opens at its top, and going back restores the scroll position.
import { tick } from "svelte";

export type Route =
  | { view: "inbox"; interrupt?: string }
  | { view: "sessions"; session?: string }
  | { view: "runs" }
  | { view: "new_run" }
  | { view: "run"; run: string }
  | { view: "grants" }
  | { view: "people" }
  | { view: "system"; part?: string }
  | { view: "login"; code: string }
  | { view: "nowhere" };

export function routeOf(path: string, hash: string): Route {
  const parts = path.split("/").filter(Boolean);
  const [view, id] = parts;
  if (parts.length > 2) return { view: "nowhere" };
  switch (view) {
    case undefined:
      return { view: "inbox" };
    case "inbox":
      return { view: "inbox", interrupt: id };
    case "sessions":
      return { view, session: id };
    case "runs":
      if (id === "new") return { view: "new_run" };
      return id ? { view: "run", run: id } : { view: "runs" };
    case "grants":
    case "people":
      return id ? { view: "nowhere" } : { view };
    case "system":
      return !id || id === "keys" || id === "audit" ? { view, part: id } : { view: "nowhere" };
    case "login":
      return id ? { view: "nowhere" } : { view: "login", code: hash.slice(1) };
    default:
      return { view: "nowhere" };
  }
}

export const route = $state({
  now: routeOf(location.pathname, location.hash),
  /** True after the person has navigated within the app. From then on, the app moves the focus to the new view. */
  moved: false,
});

// The app restores the scroll position itself, because views draw their content too late for the browser.
history.scrollRestoration = "manual";

function read(): void {
  route.moved = true;
  route.now = routeOf(location.pathname, location.hash);
}

export function go(path: string, how: "push" | "replace" = "push"): void {
  if (how === "push") {
    history.replaceState({ y: scrollY }, "");
    history.pushState(null, "", path);
  } else history.replaceState(null, "", path);
  read();
  scrollTo(0, 0);
}

addEventListener("popstate", (event) => {
  read();
  const { y = 0 } = (event.state ?? {}) as { y?: number };
  void tick().then(() => scrollTo(0, y));
});
addEventListener("hashchange", read);
document.addEventListener("click", (click) => {
  if (click.defaultPrevented || click.button !== 0 || click.metaKey || click.ctrlKey || click.shiftKey || click.altKey) return;
  const link = (click.target as Element | null)?.closest?.("a");
  if (!link || link.target || link.origin !== location.origin || link.hasAttribute("download")) return;
  // The browser itself handles a link to a position on this page, and moves the focus.
  if (link.hash && link.pathname === location.pathname) return;
  // Pages of the server, such as /docs/errors/stale, are not views of the app.
  if (routeOf(link.pathname, "").view === "nowhere") return;
  click.preventDefault();
  go(link.pathname);
});
