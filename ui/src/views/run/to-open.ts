// Scrolls to the open interrupt on the same page.

export function toOpen(click: MouseEvent): void {
  const place = document.getElementById("open");
  if (!place) return;
  click.preventDefault();
  place.scrollIntoView({ block: "start" });
  place.focus({ preventScroll: true });
}
