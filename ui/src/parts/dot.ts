// Between facts in one sentence. It breaks before the dot, never behind it: no line ends in one.
export const DOT = " ·\u00a0";
