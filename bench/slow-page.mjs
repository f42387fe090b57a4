/** Makes a browser's page as slow as a cheap phone on a bad network. */

export const slow3g = { kbitPerSecond: 400, roundTripMs: 400 };
export const slowdown = 4;

/**
 * As in the browser's developer tools: a new connection costs nothing extra.
 * @param {import('playwright-core').CDPSession} cdp
 * @param {{ kbitPerSecond: number, roundTripMs: number }} network
 */
export async function slowDown(cdp, network) {
  // The protocol's word for no limit is -1.
  const bytesPerSecond = Number.isFinite(network.kbitPerSecond) ? (network.kbitPerSecond * 1000) / 8 : -1;
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: network.roundTripMs,
    downloadThroughput: bytesPerSecond,
    uploadThroughput: bytesPerSecond,
  });
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
}
