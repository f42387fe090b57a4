/** Connects to Litecoin's networks. */
export { bitcoinAdapter as adapter } from '../../chains/bitcoin/bitcoin-adapter.js';
