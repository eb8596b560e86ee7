// The package that people install: its files, its types and its size.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

test("the package installs from its file, and works without zod and without frameworks", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdshort-sdk-package-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const run = (program: string, ...args: string[]) => execFileSync(program, args, { cwd: folder, encoding: "utf8" });
  const packed = run("npm", "pack", "--json", "--ignore-scripts", "--pack-destination", folder, ROOT);
  const [{ filename, files, version }] = JSON.parse(packed);
  const strange = files.filter(
    ({ path }: { path: string }) => !/^(dist\/.*\.(js|d\.ts)|package\.json|README\.md|LICENSE)$/.test(path),
  );
  assert.deepEqual(strange, []);
  writeFileSync(join(folder, "package.json"), '{"private": true, "type": "module"}');
  run("npm", "install", "--offline", "--no-audit", "--no-fund", `./${filename}`);
  assert.deepEqual(run("ls", "node_modules").trim(), "holdshort-sdk");
  const imports = ["holdshort-sdk", "holdshort-sdk/ai", "holdshort-sdk/mastra", "holdshort-sdk/openai-agents"];
  const script = imports.map(
    (name, i) => `import * as m${i} from "${name}"; if (Object.keys(m${i}).length === 0) throw 0;`,
  );
  run(process.execPath, "--input-type=module", "-e", script.join("\n"));
  const types = `
    import { approve, ask, type Approval, requireApproval } from "holdshort-sdk";
    import { gateTools } from "holdshort-sdk/ai";
    export const text: Promise<string> = ask("?");
    export const data: Promise<{ day: string }> = ask<{ day: string }>("?", { schema: { type: "object" } });
    export const approval: Promise<Approval<{ n: number }>> = approve("git", { n: 1 });
    export const wrapped: (args: { n: number }, m: string) => Promise<boolean> = requireApproval(
      async ({ n }: { n: number }, m: string) => m.length === n, { tool: "t", when: ({ n }) => n > 1 && "many" });
    export const gate: { tools: { a: { execute: () => number } } } = gateTools({ a: { execute: () => 1 } }, { conversation: "c" });
    // @ts-expect-error: the arguments have no member m
    requireApproval(async ({ n }: { n: number }) => n, { tool: "t", when: ({ m }) => m });
    // @ts-expect-error: an answer without a schema is a text
    export const number: Promise<number> = ask("?");
  `;
  writeFileSync(join(folder, "types.ts"), types);
  const flags = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2022", "--module", "nodenext"];
  const checked = spawnSync(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), ...flags, "types.ts"], {
    cwd: folder,
  });
  assert.equal(String(checked.stdout), "");
  const cargo = execFileSync("grep", ["-m1", "^version", join(ROOT, "../../Cargo.toml")], { encoding: "utf8" });
  assert.equal(cargo.trim(), `version = "${version}"`, "the SDK has the version of the server");
});
