/** Bundles what `ngc` compiled. Angular's own packages come half compiled: its linker finishes them. */
import { transformAsync } from '@babel/core';
import { defineConfig, type Plugin } from 'vite';
// @ts-expect-error: it has no types
import linker from '@angular/compiler-cli/linker/babel';

const angularLinker: Plugin = {
  name: 'angular-linker',
  async transform(code, id) {
    if (!id.includes('/@angular/') || !code.includes('ɵɵngDeclare')) return undefined;
    const options = { filename: id, configFile: false, babelrc: false, compact: false } as const;
    const linked = await transformAsync(code, { ...options, plugins: [linker] });
    return linked?.code ? { code: linked.code, map: null } : undefined;
  },
};

export default defineConfig({ plugins: [angularLinker] });
