// An SMTP server on loopback. Prints its port as the first line of standard output, then one line of JSON per mail.
// Each line on standard input is an SMTP code with which the server rejects the next recipient.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { SMTPServer } from "smtp-server";
import { simpleParser } from "mailparser";

const { certificate, key, user, password, implicit } = JSON.parse(process.argv[2]);
const codes = [];
createInterface({ input: process.stdin }).on("line", (line) => codes.push(Number(line)));
process.stdin.on("end", () => process.exit());

const tell = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);

const server = new SMTPServer({
  ...(certificate ? { cert: readFileSync(certificate), key: readFileSync(key) } : {}),
  secure: implicit === true,
  disabledCommands: [...(certificate && !implicit ? [] : ["STARTTLS"]), ...(user ? [] : ["AUTH"])],
  authOptional: !user,
  onAuth(auth, _, done) {
    const isKnown = auth.username === user && auth.password === password;
    if (isKnown) done(null, { user });
    else done(Object.assign(new Error(`not ${auth.username}`), { responseCode: 535 }));
  },
  onRcptTo({ address }, session, done) {
    const code = codes.shift();
    if (code) done(Object.assign(new Error(`refused by the test: ${address}`), { responseCode: code }));
    else done();
  },
  onData(stream, session, done) {
    const chunks = [];
    stream.on("data", (chunk) => chunks.push(chunk));
    stream.on("end", async () => {
      const raw = Buffer.concat(chunks);
      const mail = await simpleParser(raw, { skipTextToHtml: true, skipHtmlToText: true });
      const headers = Object.fromEntries(mail.headerLines.map(({ key, line }) => [key, line.slice(key.length + 1).trim()]));
      tell({
        from: session.envelope.mailFrom.address,
        to: session.envelope.rcptTo.map((to) => to.address),
        secure: session.secure,
        user: session.user ?? null,
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        names: (mail.to?.value ?? []).map((to) => to.name),
        headers,
        raw: raw.toString("utf8"),
      });
      done();
    });
  },
});
server.on("error", () => {});
server.listen(0, "127.0.0.1", () => tell({ port: server.server.address().port }));
