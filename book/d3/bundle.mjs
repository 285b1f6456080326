// Bundles entry.mjs into book/_static/d3-explorer.js, with the licences of all packages that end up in it.
import {readFileSync, writeFileSync} from "node:fs";
import {build} from "esbuild";

const result = await build({
  entryPoints: ["entry.mjs"], bundle: true, minify: true, format: "iife", globalName: "d3", target: "es2020",
  write: false, metafile: true,
});
const inputs = Object.values(result.metafile.outputs)[0].inputs;
const used = Object.keys(inputs).filter(name => inputs[name].bytesInOutput).map(name => name.match(/node_modules\/([^/]+)\//)?.[1]);
const notices = [...new Set(used.filter(Boolean))].sort().map(name => {
  const {version} = JSON.parse(readFileSync(`node_modules/${name}/package.json`));
  return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}`;
});
const {description} = JSON.parse(readFileSync("package.json"));
const banner = `/*! ${description}\n\n${notices.join("\n\n")}\n*/\n`;
writeFileSync("../_static/d3-explorer.js", banner + result.outputFiles[0].text);
