// Writes the code blocks of guides into modules, so that tests run what the guides show:
// node guides.mjs FOLDER GUIDE…
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const [folder, ...guides] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
for (const guide of guides) {
  const blocks = [...readFileSync(guide, "utf8").matchAll(/^```ts (\S+)\n(.*?)^```$/gms)];
  if (blocks.length === 0) throw new Error(`${guide} has no block \`\`\`ts NAME`);
  for (const [, name, code] of blocks) {
    const page = basename(guide);
    writeFileSync(join(folder, `${page.replace(/\.md$/, "")}-${name}.ts`), `// The block ${name} of ${page}\n${code}`);
  }
}
