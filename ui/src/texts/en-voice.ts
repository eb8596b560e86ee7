// English texts for the buttons that read aloud and that dictate. They load together with these buttons, not with the
// first page.

export const voice = {
  "card.answers": "Suggested answers",
  "voice.read": "Read aloud",
  "voice.quiet": "Stop reading",
  "voice.dictate": "Dictate",
  "voice.done": "Stop dictation",
  "voice.listens": "Listening …",
  "voice.where": "The browser transcribes speech. Some browsers send audio to their vendor.",
  "voice.denied": "This page has no permission to use the microphone.",
  "voice.failed": "Dictation failed: {why}",
};
