/** The file in `NETWORKS_FILE`: which real networks the server watches, through which nodes. */
import type * as z from 'zod/mini';
import { currencies } from '../../core/money/currency-list.js';
import { isBitcoinLike, isEvm } from '../../core/families/kinds.js';
import { describeInvalid, parseAddress } from '../../core/addresses/formats.js';
import { parseOperatorJson, readOperatorFile } from '../../core/operator-file.js';
import { refuseExposedFile } from '../../core/private-file.js';
import { errorMessage } from '../../core/shared/error-message.js';
import type { ChainAsset } from '../../core/chains/assets.js';
import type { Asset, DepthRule, EvmNetwork, Network, Worth } from '../../core/chains/networks.js';
import { ConfigError, type Environment } from '../../core/config.js';
import type { ConfiguredNetwork } from '../../core/chains/connected.js';
import { networksFile, nodeForm, type NetworkSettings } from './networks-form.js';
import { countProviders } from './rpc/providers.js';
import {
  networkPresets,
  type ChainIdentity,
  type Preset,
  type PresetAsset,
} from '../../core/chains/presets.js';

/** The nodes of a network, with the settings for asking them. */
export interface NodeSettings {
  readonly identity: ChainIdentity;
  /** Blocks are made only on demand, so an old one does not indicate a bad node. */
  readonly isOnDemand: boolean;
  /** URLs in order of preference. They can hold credentials: never log or show them. */
  readonly nodes: readonly string[];
  /** Sent with each request, such as a provider's key. Never shown either. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** The requests that its nodes together may get in a minute, each call of a batch counted; undefined: no limit. */
  readonly requestsPerMinute: number | undefined;
  /** The most calls in one request to a node; undefined for the default of its kind of network. */
  readonly batchSize: number | undefined;
  /** The rules by which the gas key sweeps automatically; never without it. */
  readonly sweeps: NetworkSettings['sweeps'];
}

/**
 * Reads `{"networks":{"polygon":{"nodes":["https://…"]}}}`. Errors have one line each, with the path of its key, and never show a value. Whatever a network leaves out comes from its preset.
 * @param environment the variables in which `{env:NAME}` is looked up
 * @throws ConfigError
 */
export function readNetworksFile(path: string, environment: Environment): ConfiguredNetwork[] {
  let content: unknown;
  try {
    refuseExposedFile(path);
    content = parseOperatorJson(readOperatorFile(path));
  } catch (error) {
    throw new ConfigError(errorMessage(error), { cause: error });
  }
  return parseNetworks(content, environment);
}

/** @throws ConfigError */
export function parseNetworks(content: unknown, environment: Environment): ConfiguredNetwork[] {
  const file = networksFile.safeParse(content);
  if (!file.success) throw new ConfigError(file.error.issues.flatMap(describeIssue).join('\n'));
  const problems: string[] = [];
  const found = Object.entries(file.data.networks).flatMap(([code, settings]) => {
    const preset = networkPresets[code];
    if (!preset) {
      problems.push(`networks.${code}: is not known; known are ${Object.keys(networkPresets).join(', ')}`);
      return [];
    }
    const report = (key: string, problem: string) => problems.push(`networks.${code}.${key}: ${problem}`);
    return [configure(code, preset, settings, environment, report)];
  });
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return found;
}

type Report = (key: string, problem: string) => void;

function configure(
  code: string,
  preset: Preset,
  settings: NetworkSettings,
  environment: Environment,
  report: Report,
): ConfiguredNetwork {
  const { mode, family, addressNet } = preset;
  const explorer = settings.explorer === false ? undefined : (settings.explorer ?? preset.explorer);
  if (settings.sweeps && !isEvm(family)) report('sweeps', 'is only for EVM networks');
  const { assets, chainAssets } = configureAssets(preset, settings.assets ?? {}, report);
  const identity = configureIdentity(preset, settings, report);
  const blockSeconds = settings.blockSeconds ?? preset.blockSeconds;
  const nodes = settings.nodes.map((url, position) => {
    const filled = fill(url, `nodes[${position}]`, environment, report);
    if (!isNodeUrl(filled)) report(`nodes[${position}]`, nodeForm);
    return filled;
  });
  const network: Network = {
    mode,
    code,
    name: settings.name ?? preset.name,
    family,
    addressNet,
    ...configureDepths(preset, settings, report),
    ...configureCrossCheck(preset, settings, countProviders(nodes), report),
    inclusionHours: settings.inclusionHours ?? preset.inclusionHours,
    explorer: explorer?.tx,
    blockExplorer: explorer?.block,
    evm: configureEvm(preset, settings, identity),
    ...(mode === 'live' && { blockSeconds, networkFee: preset.networkFee }),
    assets,
  };
  return {
    network,
    identity,
    blockSeconds,
    isOnDemand: settings.blockSeconds === undefined && preset.isOnDemand === true,
    nodes,
    headers:
      settings.headers &&
      Object.fromEntries(
        Object.entries(settings.headers).map(([name, value]) => [
          name,
          fill(value, `headers.${name}`, environment, report),
        ]),
      ),
    requestsPerMinute: settings.requestsPerMinute,
    batchSize: settings.batchSize,
    sweeps: settings.sweeps,
    chainAssets,
  };
}

function configureDepths(
  preset: Preset,
  { confirmations: given }: NetworkSettings,
  report: Report,
): Pick<Network, 'confirmations' | 'depths' | 'finalitySeconds'> {
  const known = Array.isArray(given)
    ? configureRules(preset, given, report)
    : (given ?? preset.confirmations);
  if (typeof known === 'number') return { confirmations: known };
  return {
    // The server's own transactions, such as sweeps, wait for as many as the smallest amounts.
    confirmations: known.find(({ confirmations }) => confirmations !== null)?.confirmations ?? 12,
    depths: known,
    finalitySeconds: preset.finalitySeconds,
  };
}

function configureRules(
  { family }: Preset,
  list: Exclude<NetworkSettings['confirmations'], number | undefined>,
  report: Report,
): readonly DepthRule[] {
  return list.map(({ upTo, confirmations = null, require }, index) => {
    const key = `confirmations[${index}]`;
    const isLast = index === list.length - 1;
    if ((confirmations === null) === (require === undefined)) {
      report(key, 'must have either confirmations, or "require":"finalized"');
    }
    if (!upTo && !isLast) report(key, 'must have upTo: it is not the last one');
    if (upTo && isLast) report(key, 'must not have upTo: it is the last one');
    if (require && isBitcoinLike(family)) report(key, 'cannot require finality: this network has none');
    return { upTo, confirmations };
  });
}

const defaultCrossCheck: Worth = { amount: '1000', currency: 'USD' };

function configureCrossCheck(
  { mode }: Preset,
  { crossCheckAbove }: NetworkSettings,
  providers: number,
  report: Report,
): Pick<Network, 'crossCheckAbove'> {
  // One node cannot be compared with another, nor with itself under another path.
  if (providers < 2) {
    if (crossCheckAbove) {
      report('crossCheckAbove', 'needs two nodes or more, of different providers: at different hosts');
    }
    return {};
  }
  if (crossCheckAbove) return { crossCheckAbove };
  return mode === 'live' && crossCheckAbove !== false ? { crossCheckAbove: defaultCrossCheck } : {};
}

/** Replaces each `{env:NAME}`. */
function fill(text: string, key: string, environment: Environment, report: Report): string {
  return text.replace(/\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    if (!environment[name]) report(key, `the environment variable ${name} is not set`);
    return environment[name] ?? '';
  });
}

function isNodeUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function configureIdentity(preset: Preset, settings: NetworkSettings, report: Report): ChainIdentity {
  const { chainId, genesisHash } = settings;
  const hasChainId = 'chainId' in preset.identity;
  if (hasChainId && genesisHash !== undefined)
    report('genesisHash', 'is for Bitcoin and Litecoin; set chainId');
  if (!hasChainId && chainId !== undefined) report('chainId', 'is not for this network; set genesisHash');
  if (hasChainId) return chainId === undefined ? preset.identity : { chainId };
  return genesisHash === undefined ? preset.identity : { genesisHash };
}

function configureEvm(
  preset: Preset,
  { walletRpcUrl, chainId }: NetworkSettings,
  identity: ChainIdentity,
): EvmNetwork | undefined {
  const [coin] = Object.keys(preset.assets);
  if (!isEvm(preset.family) || !('chainId' in identity) || coin === undefined) return undefined;
  // Another chain under the preset's name is not at the preset's URL.
  const known = chainId === undefined ? preset.walletRpcUrl : undefined;
  const rpcUrl = walletRpcUrl === false ? undefined : (walletRpcUrl ?? known);
  return { chainId: identity.chainId, coin, rpcUrl };
}

function configureAssets(
  preset: Preset,
  settings: NonNullable<NetworkSettings['assets']>,
  report: Report,
): { assets: Record<string, Asset>; chainAssets: Record<string, ChainAsset> } {
  const assets: Record<string, Asset> = {};
  const chainAssets: Record<string, ChainAsset> = {};
  const coins = currencies.filter(({ type }) => type === 'crypto');
  for (const code of new Set([...Object.keys(preset.assets), ...Object.keys(settings)])) {
    const given = settings[code] ?? {};
    if (given === false) continue;
    const known = coins.find((coin) => coin.code === code);
    if (!known) {
      report(`assets.${code}`, `is not a coin of this server (${coins.map((coin) => coin.code).join(', ')})`);
      continue;
    }
    const usual = preset.assets[code];
    const found = configureToken(preset, usual, given, (key, text) => report(`assets.${code}${key}`, text));
    if (!found) continue;
    chainAssets[code] = { currency: code, unitDecimals: known.decimals, ...found };
    // The merchant's own wallet pays for withdrawals, so the server adds no fee of its own.
    const { minAmount = usual?.minAmount ?? defaultMinimum, withdrawalFee = '0' } = given;
    assets[code] = { minAmount, withdrawalFee, ...found };
  }
  if (Object.keys(assets).length === 0) report('assets', 'must leave at least one asset');
  return { assets, chainAssets };
}

/** The smallest payment of a token, unless the configuration sets one. */
const defaultMinimum = '0.01';

function configureToken(
  preset: Preset,
  usual: PresetAsset | undefined,
  given: { readonly contract?: string | undefined; readonly decimals?: number | undefined },
  report: Report,
): Pick<ChainAsset, 'contract' | 'decimals'> | undefined {
  if (usual && usual.contract === undefined) {
    if (given.contract === undefined && given.decimals === undefined) return { decimals: usual.decimals };
    report('', "is the network's own coin: it has no contract, and its decimals are fixed");
    return undefined;
  }
  if (!usual && isBitcoinLike(preset.family)) {
    report('', 'cannot be added: this network has no tokens');
    return undefined;
  }
  const { contract: text = usual?.contract ?? '' } = given;
  const decimals = given.decimals ?? (text === usual?.contract ? usual.decimals : undefined);
  const contract = parseAddress(preset, text);
  if (contract === undefined)
    report('.contract', describeInvalid(text, 'must be the address of the token on this network'));
  // Wrong decimals would be off by a power of ten, so they are never guessed.
  if (decimals === undefined) report('.decimals', 'is required with a contract');
  return contract === undefined || decimals === undefined ? undefined : { contract, decimals };
}

function describeIssue(issue: z.core.$ZodIssue): string[] {
  const at = (path: readonly PropertyKey[]) =>
    path.reduce<string>(
      (text, key) =>
        typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`,
      '',
    );
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${at([...issue.path, key])}: is not a known key`);
  }
  const where = at(issue.path);
  return [`${where === '' ? 'the file' : where}: ${issue.message}`];
}
