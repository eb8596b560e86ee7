// Separator of facts in one sentence. A line may break before the dot, but not after it, so that no line ends with a
// dot.
export const DOT = " ·\u00a0";
