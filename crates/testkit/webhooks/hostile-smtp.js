// A mail server on loopback that violates SMTP. Prints its port as the first line of standard output.
//   injects  sends unencrypted responses to later commands together with its STARTTLS response; over TLS it is silent
//   endless  sends a greeting line that never ends

import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { TLSSocket, createSecureContext } from "node:tls";

const { how, certificate, key } = JSON.parse(process.argv[2]);
process.stdin.on("end", () => process.exit()).resume();

const secureContext = createSecureContext({ cert: readFileSync(certificate), key: readFileSync(key) });
const FORGED = ["220 go", "250 hello", "250 sender", "250 recipient", "354 data", "250 queued as FORGED", "221 bye"];

const endless = (socket) => {
  const more = () => {
    while (socket.write("2".repeat(65536)));
  };
  socket.on("drain", more);
  more();
};

const injects = (socket) => {
  socket.write("220 hello\r\n");
  socket.on("data", (said) => {
    if (!String(said).startsWith("STARTTLS")) {
      socket.write("250-hello\r\n250 STARTTLS\r\n");
      return;
    }
    socket.removeAllListeners("data");
    socket.write(FORGED.map((line) => `${line}\r\n`).join(""));
    new TLSSocket(socket, { isServer: true, secureContext }).on("error", () => {}).resume();
  });
};

const server = createServer((socket) => {
  socket.on("error", () => {});
  if (how === "endless") endless(socket);
  else injects(socket);
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`));
