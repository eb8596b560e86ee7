// Server-sent events.

export interface ServerEvent {
  /** Id of the event, or of an earlier event of the stream. */
  readonly id: string;
  readonly name: string;
  readonly data: string;
}

/** Longest event. An interrupt has at most 256 KiB of payload, and as much again after an edit. */
const EVENT_LENGTH = 8 * 1024 * 1024;

/** Yields the events of a stream, and `undefined` for each chunk of bytes without one, such as a ping. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent | undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  let id = "";
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    if (rest.length > EVENT_LENGTH) throw new Error(`an event is longer than ${EVENT_LENGTH} characters`);
    for (const block of blocks) {
      const event = parse(block, id);
      id = event.id;
      if (event.data !== "") yield event;
    }
    yield undefined;
  }
}

function parse(block: string, lastId: string): ServerEvent {
  const data: string[] = [];
  let name = "message";
  let id = lastId;
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    else if (field === "event") name = value;
    else if (field === "id") id = value;
  }
  return { id, name, data: data.join("\n") };
}
