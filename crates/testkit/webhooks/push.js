// Browser side of Web Push, with npm `http_ece` (RFC 8188, RFC 8291) and Node's crypto. Reads JSON from standard input
// and prints JSON. `{}` generates the keys of a subscription. An object with `private`, `auth`, `authorization` and
// `body` is a pushed message, which the program verifies and decrypts.

import { createECDH, createPublicKey, randomBytes, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import ece from "http_ece";

const given = JSON.parse(readFileSync(0, "utf8"));
const curve = createECDH("prime256v1");

function made() {
  curve.generateKeys();
  return {
    private: curve.getPrivateKey("base64url"),
    p256dh: curve.getPublicKey("base64url"),
    auth: randomBytes(16).toString("base64url"),
  };
}

/** Returns the claims (RFC 8292). Throws if the signature was not made with the key in the same header. */
function claims(authorization) {
  const [, token, key] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(authorization);
  const [header, body, signature] = token.split(".");
  const point = Buffer.from(key, "base64url");
  const jwk = { kty: "EC", crv: "P-256", x: point.toString("base64url", 1, 33), y: point.toString("base64url", 33) };
  const signer = { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" };
  const text = Buffer.from(`${header}.${body}`);
  if (!verify("sha256", text, signer, Buffer.from(signature, "base64url"))) throw new Error("the signature is wrong");
  const read = (part) => JSON.parse(Buffer.from(part, "base64url").toString());
  return { header: read(header), claims: read(body), key };
}

function read() {
  curve.setPrivateKey(given.private, "base64url");
  const body = Buffer.from(given.body, "base64");
  const options = { version: "aes128gcm", privateKey: curve, authSecret: given.auth };
  return { ...claims(given.authorization), payload: JSON.parse(ece.decrypt(body, options).toString()) };
}

console.log(JSON.stringify(given.body ? read() : made()));
