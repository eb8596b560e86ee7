// A certified OpenID provider on loopback, for tests: people sign in with any password, and are who the tests say.
import { createServer } from "node:http";
import Provider from "oidc-provider";

// Whoever starts it reads one line of standard output and no more: what the library notes goes elsewhere.
console.info = console.warn = console.error;

/** What is claimed of each person. Changed by `PUT /people/ID`. */
const people = new Map(Object.entries(JSON.parse(process.argv[2] ?? "{}")));
// A test starts it again at the same address.
const port = Number(process.argv[3] ?? 0);

/** The servers that are told who has signed out. Changed by `PUT /notified`. */
let notified = [];
/** Each logout token that was sent, for `GET /notices`. */
const notices = [];

// The library asks no address of this machine: its way there is left out.
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
      // A server under test listens at any port of loopback.
      application_type: "native",
      redirect_uris: ["http://127.0.0.1/login/oidc/callback"],
      post_logout_redirect_uris: ["http://127.0.0.1/login"],
      // Where the server under test listens is told later.
      backchannel_logout_uri: "http://127.0.0.1:1/v1/login/backchannel",
      backchannel_logout_session_required: true,
      response_types: ["code"],
      grant_types: ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"],
    },
  ],
  claims: { openid: ["sub", "roles", "groups"], profile: ["name"], email: ["email"] },
  // As the large providers do it: the ID token says who somebody is.
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
// It ends with whoever started it.
process.stdin.resume().on("end", () => process.exit());
