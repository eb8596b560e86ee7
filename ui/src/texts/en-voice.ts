// English texts for the buttons that read aloud and dictate. They load with them, not with the first page.

export const voice = {
  "card.answers": "Suggested answers",
  "voice.read": "Read aloud",
  "voice.quiet": "Stop reading",
  "voice.dictate": "Dictate",
  "voice.done": "Stop listening",
  "voice.listens": "Listening …",
  "voice.where": "Your browser listens; some send what they hear to their maker.",
  "voice.denied": "The browser may not use the microphone here.",
  "voice.failed": "The browser could not understand: {why}",
};
