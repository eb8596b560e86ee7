// Labels that crates/presentation/src/card/option.rs (edit_label) sends, by the keys that the tests use.

/** @type {Record<string, string>} */
export const words = {
  "card.edit.send.command": "Run edited command",
  "card.edit.send.change": "Apply edited change",
  "card.edit.send.call": "Approve edited call",
  "card.edit.send.plan": "Approve edited plan",
  "card.edit.send.review": "Release edited text",
  "card.edit.send.checkpoint": "Continue with edited input",
};
