/**
 * Reads the files of the `qrcode` package's core as modules. They are CommonJS, which browsers do not load, and of which a
 * bundler keeps everything: the modes for numbers and Japanese letters, and the search for the shortest mix of modes.
 */

/** @param {string} path or URL of a file @returns true if it is one of these files */
export const isQrcode = (path) => /\/node_modules\/qrcode\/lib\/core\/[\w-]+\.js/.test(path);

/** @param {string} code of a file @returns {string} the same as a module */
export function toModule(code) {
  const names = new Set([...code.matchAll(/^exports\.(\w+) = /gm)].map(([, name = '']) => name));
  const module = code
    .replace(
      /^const (\w+) = require\(['"]\.\/([\w-]+)['"]\)\.(\w+);?$/gm,
      "import { $3 as $1 } from './$2.js'",
    )
    .replace(/^const (\w+) = require\(['"]\.\/([\w-]+)['"]\);?$/gm, (_, name, file) =>
      // These files export one function.
      /-data$|^bit-|^reed-/.test(file)
        ? `import ${name} from './${file}.js'`
        : `import * as ${name} from './${file}.js'`,
    )
    .replace(/^const \w+ = require\(['"]dijkstrajs['"]\);?$/m, 'const dijkstra = undefined')
    // These take a text whose modes must be found. The widget names the mode.
    .replace(/\bSegments\.(?:fromString|rawSplit)\b/g, 'undefined')
    .replace(/^module\.exports = /m, 'export default ')
    .replace(/^exports\.(\w+) = /gm, 'export const $1 = ')
    .replace(/\bexports\.(\w+)/g, '$1');
  if (/\brequire\(|\bexports\b/.test(module)) throw new Error('A file of qrcode/lib/core has another form');
  return names.size > 0 ? `${module}\nexport default { ${[...names].join(', ')} }\n` : module;
}
