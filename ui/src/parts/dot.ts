// Separator of facts in one sentence. The line may break before the dot, never after it, so no line ends in a dot.
export const DOT = " ·\u00a0";
