// Builds the page's script and style into the Python package, with the licences of what is in them.
import { readFileSync, writeFileSync, existsSync } from "node:fs";
import { build } from "esbuild";

const OUT = "../src/dccgcn/artifacts/report/static";

const result = await build({
  entryPoints: { report: "src/main.ts" },
  outdir: OUT,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  metafile: true,
});
await build({ entryPoints: { report: "src/report.css" }, outdir: OUT, minify: true, target: "es2022", charset: "ascii" });

const packages = new Set();
for (const file of Object.keys(result.metafile.inputs)) {
  const name = file.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/);
  if (name) packages.add(name[1]);
}
const parts = [...packages].sort().map((name) => {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = ["LICENSE", "LICENSE.txt", "LICENSE.md"].map((f) => `${folder}/${f}`).find(existsSync);
  if (!file) throw new Error(`${name} has no licence file`);
  const text = readFileSync(file, "utf8").trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
});
writeFileSync(`${OUT}/LICENCES.txt`, `report.js contains these packages:\n\n${parts.join(`\n${"-".repeat(80)}\n\n`)}`);
