// The browser's speech recognition. TypeScript has no types for it, because some browsers do not support it.

export interface Heard {
  continuous: boolean;
  interimResults: boolean;
  onresult: ((event: { results: ArrayLike<ArrayLike<{ transcript: string }>> }) => void) | null;
  onerror: ((event: { error: string }) => void) | null;
  onend: (() => void) | null;
  start(): void;
  stop(): void;
  abort(): void;
}

type Known = { SpeechRecognition?: new () => Heard; webkitSpeechRecognition?: new () => Heard };

/** Returns the constructor by its standard name, or by the prefixed name that most browsers still use. */
export function listener(): (new () => Heard) | undefined {
  const known = window as Known;
  return known.SpeechRecognition ?? known.webkitSpeechRecognition;
}
