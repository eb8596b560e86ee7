// Measures a peer written in JavaScript: cycles per second with 1 and 64 at a time. Prints one line of JSON.

export const PAYLOAD = "x".repeat(500);
const CROWD = 64;
const ROUNDS = Number(process.env.PEER_ROUNDS ?? 5);
const SECONDS = Number(process.env.PEER_SECONDS ?? 3);

// `cycle` runs one cycle. It returns the milliseconds between sending the decision and its arrival at the asker.
export async function measure(cycle, facts) {
  await rate(cycle, CROWD, SECONDS / 2);
  await rate(cycle, 1, SECONDS / 2);
  const [alone, together, latencies] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const one = await rate(cycle, 1, SECONDS);
    alone.push(one.aSecond);
    latencies.push(...one.latencies);
    together.push((await rate(cycle, CROWD, SECONDS)).aSecond);
  }
  const measured = {
    alone: spread(alone),
    together: spread(together),
    decision_to_done_ms: Number(median(latencies).toFixed(3)),
    rounds: ROUNDS,
    seconds: SECONDS,
  };
  console.log(JSON.stringify({ ...facts, ...measured }));
}

async function rate(cycle, concurrency, seconds) {
  const began = performance.now();
  const elapsed = () => (performance.now() - began) / 1000;
  const latencies = [];
  const pair = async () => {
    while (elapsed() < seconds) latencies.push(await cycle());
  };
  await Promise.all(Array.from({ length: concurrency }, pair));
  return { aSecond: latencies.length / elapsed(), latencies };
}

function spread(values) {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) };
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(half)] : (sorted[half - 1] + sorted[half]) / 2;
}
