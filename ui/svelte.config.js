// Runes everywhere; class names of scoped styles come from the text of the style, not from the path of the file.
export default {
  compilerOptions: { runes: true, cssHash: ({ hash, css }) => `s-${hash(css)}` },
};
