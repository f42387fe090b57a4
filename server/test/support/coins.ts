/**
 * The coins of the files in `server/data/`, for tests that compare a server's replies with them: read from the files, and not through the
 * code that is tested.
 */
import { readFileSync } from 'node:fs';

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../data/${name}.json`, import.meta.url), 'utf8'));

type ByCode<Row> = Readonly<Record<string, Row>>;

interface Coin {
  /** The names of the coin at the exchanges that are asked by name. */
  readonly symbols: ByCode<string>;
  readonly exampleDollars: string;
}
/** Each with its coins. `simulated` are those of test mode. */
interface Network {
  readonly assets: ByCode<object>;
  readonly simulated?: ByCode<object>;
}

export const { coins } = read('currencies') as { readonly coins: ByCode<Coin> };
const { networks } = read('networks') as { readonly networks: ByCode<Network> };

/** Every way to pay in test mode: the coins in the order of their file, each on its networks in the order of theirs. */
export const testOptions = Object.keys(coins).flatMap((currency) =>
  Object.entries(networks).flatMap(([network, { simulated = {} }]) =>
    currency in simulated ? [{ currency, network }] : [],
  ),
);

/** In the order of their file. */
export const testCoins = [...new Set(testOptions.map(({ currency }) => currency))];

/** The coins of a network with real nodes, in the order of their file. */
export function liveCoinsOf(network: string): string[] {
  const { assets = {} } = networks[network] ?? {};
  return Object.keys(coins).filter((currency) => currency in assets);
}
