// Runs the conformance suite of MCP against `/mcp` of a server, and compares the results with the baselines.
// The suite sends no credentials, so this program adds the agent token to each request.
//
//   npm install @modelcontextprotocol/conformance@0.2.0-alpha.12      (the suite needs Node 22)
//   HOLDSHORT_URL=… HOLDSHORT_AGENT_TOKEN=… node run.mjs PATH/conformance/dist/index.js
//
// Exits with 1 after a failure that a baseline does not list, and after a listed one that passes.

import { spawn } from 'node:child_process';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [suite] = process.argv.slice(2);
const target = new URL(process.env.HOLDSHORT_URL);
const authorization = `Bearer ${process.env.HOLDSHORT_AGENT_TOKEN}`;
const here = dirname(fileURLToPath(import.meta.url));

const proxy = http.createServer((request, response) => {
  const own = `127.0.0.1:${proxy.address().port}`;
  const headers = { ...request.headers, authorization };
  // Only the own address is translated, so that the server sees foreign hosts and origins.
  if (headers.host === own) headers.host = target.host;
  if (headers.origin === `http://${own}`) headers.origin = target.origin;
  const { hostname, port } = target;
  const forwarded = http.request({ hostname, port, path: request.url, method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  forwarded.on('error', () => response.destroy());
  response.on('close', () => forwarded.destroy());
  request.pipe(forwarded);
});

proxy.listen(0, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${proxy.address().port}/mcp`;
  let failed = false;
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const baseline = join(here, `${revision}.yml`);
    const arguments_ = [suite, 'server', '--url', url, '--requirements', revision, '--expected-failures', baseline];
    const child = spawn(process.execPath, arguments_, { stdio: 'inherit' });
    failed = (await new Promise((resolve) => child.on('exit', resolve))) !== 0 || failed;
  }
  proxy.close();
  process.exit(failed ? 1 : 0);
});
