// Builds the scripts and styles of the report and of the labelling page into the Python package, with the licences of
// what is in them.
import { readFileSync, writeFileSync, existsSync } from "node:fs";
import { build } from "esbuild";

const OUT = "../src/dccgcn/report/static";
const OUT_LABEL = "../src/dccgcn/label/static";

const options = { bundle: true, minify: true, format: "iife", target: "es2022", charset: "ascii", legalComments: "none" };
const result = await build({ ...options, entryPoints: { report: "src/main.ts" }, outdir: OUT, metafile: true });
await build({ ...options, entryPoints: { report: "src/report.css" }, outdir: OUT });
await build({ ...options, entryPoints: { label: "src/label/main.ts" }, outdir: OUT_LABEL });
await build({ ...options, entryPoints: { label: "src/label/label.css" }, outdir: OUT_LABEL });

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
writeFileSync(`${OUT}/LICENCES.txt`, `report.js and label.js contain these packages:\n\n${parts.join(`\n${"-".repeat(80)}\n\n`)}`);
