// What the browser has for listening. TypeScript does not know it: it is not in every browser.

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

/** Under its own name, or the one that most browsers still give it. */
export function listener(): (new () => Heard) | undefined {
  const known = window as Known;
  return known.SpeechRecognition ?? known.webkitSpeechRecognition;
}
