/** Lists the packages of a release (SBOM), from the lock file. `npm sbom` leaves out those of a root that is its own workspace. */

/**
 * @typedef {object} Locked
 * @property {string} [version]
 * @property {string} [integrity]
 * @property {string} [license]
 * @property {boolean} [dev]
 * @property {boolean} [link]
 */

/**
 * @param {{ name: string, version: string }} release
 * @param {{ packages: Record<string, Locked> }} lock what package-lock.json says
 * @returns the packages that run in production or are built into the widget, as CycloneDX 1.5
 */
export function billOfMaterials(release, lock) {
  const components = Object.entries(lock.packages)
    .filter(([path, { dev, link }]) => path.includes('node_modules/') && dev !== true && link !== true)
    .map(([path, { version = '', integrity, license }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
      const content = integrity && Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
      return {
        type: 'library',
        name,
        version,
        purl,
        ...(license && { licenses: [{ expression: license }] }),
        ...(content && { hashes: [{ alg: 'SHA-512', content }] }),
      };
    });
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', name: release.name, version: release.version } },
    components,
  };
}
