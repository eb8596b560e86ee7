// Tracks whether the person is at the end of the page. If so, the end stays visible while content is added.

/** Maximum distance from the end of the page, in pixels, at which the person is treated as being at the end. */
const NEAR_PX = 96;

export class End {
  isHere = $state(true);

  follow(): () => void {
    const look = (): void => this.look();
    look();
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look, { passive: true });
    return () => {
      removeEventListener("scroll", look);
      removeEventListener("resize", look);
    };
  }

  /** Updates `isHere`. Must also be called after the page has grown. */
  look(): void {
    this.isHere = innerHeight + scrollY >= document.documentElement.scrollHeight - NEAR_PX;
  }

  jump(): void {
    scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
    this.isHere = true;
  }
}
