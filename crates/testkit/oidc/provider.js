// A certified OpenID provider on loopback, for tests. Any password is accepted, and the test chooses each person's
// claims.
import { createServer } from "node:http";
import Provider from "oidc-provider";

// The parent process reads only the first line of standard output, so the library's own messages go to standard error.
console.info = console.warn = console.error;

/** Claims of each person. `PUT /people/ID` changes them. */
const people = new Map(Object.entries(JSON.parse(process.argv[2] ?? "{}")));
// With a port argument, a restarted provider keeps its address.
const port = Number(process.argv[3] ?? 0);

/** Base URLs of the servers that receive logout notices. `PUT /notified` changes the list. */
let notified = [];
/** All logout tokens that were sent. `GET /notices` returns the list. */
const notices = [];

// The library refuses to send requests to loopback addresses, so this function sends them instead.
async function notify(_, { method, headers, body }) {
  notices.push(new URLSearchParams(body.toString()).get("logout_token"));
  let answer;
  for (const base of notified) answer = await fetch(`${base}/v1/login/backchannel`, { method, headers, body });
  return answer ?? new Response(null, { status: 503 });
}

const server = createServer();
await new Promise((listening) => server.listen(port, "127.0.0.1", listening));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "holdshort",
      client_secret: "a secret of this test",
      // A native client may redirect to any port of loopback, and each server under test has a different port.
      application_type: "native",
      redirect_uris: ["http://127.0.0.1/login/oidc/callback"],
      post_logout_redirect_uris: ["http://127.0.0.1/login"],
      // Placeholder. `PUT /notified` sets the real addresses.
      backchannel_logout_uri: "http://127.0.0.1:1/v1/login/backchannel",
      backchannel_logout_session_required: true,
      response_types: ["code"],
      grant_types: ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"],
    },
  ],
  claims: { openid: ["sub", "roles", "groups"], profile: ["name"], email: ["email"] },
  // Put all claims into the ID token, as the large providers do.
  conformIdTokenClaims: false,
  features: { deviceFlow: { enabled: true }, backchannelLogout: { enabled: true } },
  fetch: (url, options) => notify(url, options),
  cookies: { keys: ["for tests alone"] },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people.get(id) }) }),
});

const answer = provider.callback();
server.on("request", async (request, response) => {
  if (request.url === "/notices") return response.end(JSON.stringify(notices));
  if (request.url === "/notified") {
    let text = "";
    for await (const chunk of request) text += chunk;
    notified = JSON.parse(text);
    return response.writeHead(204).end();
  }
  const person = /^\/people\/(.+)$/.exec(request.url)?.[1];
  if (!person) return answer(request, response);
  let text = "";
  for await (const chunk of request) text += chunk;
  people.set(decodeURIComponent(person), JSON.parse(text));
  response.writeHead(204).end();
});
console.log(JSON.stringify({ issuer }));
// End the provider when its parent process ends.
process.stdin.resume().on("end", () => process.exit());
