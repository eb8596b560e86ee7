// Whether the person reads at the end of the page; whoever does is kept there while more comes.

/** So near to the end counts as there. */
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

  /** To be called also where the page grew. */
  look(): void {
    this.isHere = innerHeight + scrollY >= document.documentElement.scrollHeight - NEAR_PX;
  }

  jump(): void {
    scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
    this.isHere = true;
  }
}
