// A mail server on loopback that breaks the rules. The first line of standard output says the port.
//   injects  with its answer to STARTTLS come, in the clear, answers to all that is said later; in TLS it answers nothing
//   endless  its greeting is a line without an end

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
