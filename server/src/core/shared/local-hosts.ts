/** The names by which a browser on the server's own machine calls it, as `hostname` of a URL has them. */
export const localHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
