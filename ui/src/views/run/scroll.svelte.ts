// Tracks if the person reads at the end of the page. The end then stays in view while content is added.

/** Maximum distance from the end at which the person is treated as being there. */
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

  /** Call it also after the page has grown. */
  look(): void {
    this.isHere = innerHeight + scrollY >= document.documentElement.scrollHeight - NEAR_PX;
  }

  jump(): void {
    scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
    this.isHere = true;
  }
}
