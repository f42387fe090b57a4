/** `doctor`: looks for everything that keeps a shop from taking money, and says what to do about it. */
import * as z from 'zod/mini';
import { command } from '../../core/commands/command.js';
import type { CommandContext } from '../../core/commands/context.js';
import { readNetworkStates } from '../../core/commands/network-states.js';
import { readRateTroubles } from '../../core/money/rate-troubles.js';
import { describeSkew, maxSkewMs } from '../../core/db/server-time.js';
import { checkWritable } from '../../core/db/settings.js';
import type { Finding as SectionFinding } from '../../core/hooks.js';
import { readSize } from '../../core/db/size.js';
import { errorMessage } from '../../core/shared/error-message.js';

type Finding = Omit<SectionFinding, 'section'>;

const ok = (text: string): Finding => ({ kind: 'ok', text });
const warning = (text: string): Finding => ({ kind: 'warning', text });
const problem = (text: string): Finding => ({ kind: 'problem', text });

/** The time that the running server has to answer. */
const answerMs = 5000;
/** The share of the disk above which a shop should get more. */
const fullDisk = 0.9;

type Look = (context: CommandContext) => Promise<readonly Finding[]>;

const looks: Readonly<Record<string, Look>> = {
  settings: ({ config }) => {
    const found = config.misspelt.map(warning);
    return Promise.resolve(found.length === 0 ? [ok('Every variable is known')] : found);
  },
  database: async ({ database }) => {
    await checkWritable(database);
    const { bytes, diskUsed = 0 } = await readSize(database);
    const size = `${database.engine}, ${(bytes / 1e6).toFixed(0)} MB, can be written`;
    const percent = `${Math.round(diskUsed * 100)} %`;
    return [
      diskUsed > fullDisk
        ? warning(`The disk is ${percent} full. Get more before the database stops`)
        : ok(size),
    ];
  },
  clock: async ({ serverTime }) => {
    await serverTime.measure();
    const skewMs = serverTime.skewMs();
    return [Math.abs(skewMs) > maxSkewMs ? problem(describeSkew(skewMs)) : ok('The clock is right')];
  },
  server: lookAtServer,
  proxy: ({ config, publicUrl }) => {
    const hasProxy = publicUrl.startsWith('https:');
    const found = !hasProxy
      ? ok('No proxy is in front of the server')
      : config.trustProxy === undefined
        ? warning(
            'PUBLIC_URL is https, so a proxy is in front of the server, but TRUST_PROXY is not set: all payers share one limit of requests. Set it to the number of proxies',
          )
        : ok('The address of payers comes from the proxy');
    return Promise.resolve([found]);
  },
  shops: lookAtShops,
  networks: async (context) => {
    const states = (await readNetworkStates(context)).filter(({ isConfigured }) => isConfigured);
    return states.map(({ mode, network, problem: why }) =>
      why === undefined ? ok(`${mode} ${network} is read`) : problem(`${mode} ${network}: ${why}`),
    );
  },
  rates: async ({ database, worldRates, rates, connected, signal }) => {
    if (!worldRates) return lookAtFixedRates(rates, connected);
    await worldRates.refresh(signal);
    const missing = coinsWithoutRate(worldRates, connected);
    if (missing.length > 0) {
      return [
        problem(
          `No exchange rate of ${missing.join(', ')}: nobody can pay in it. "rates show" says what each source answers`,
        ),
      ];
    }
    const troubles = await readRateTroubles(database.reader);
    return troubles.length === 0
      ? [ok('Every source of exchange rates answers')]
      : [warning('Some exchange rates are missing. "rates show" says which')];
  },
};

type Connected = CommandContext['connected'];

/** They are not offered, and nothing else reports that. */
function coinsWithoutRate(
  { latest }: Pick<CommandContext['rates'], 'latest'>,
  connected: Connected,
): string[] {
  const coins = new Set(connected.flatMap(({ network }) => Object.keys(network.assets)));
  return [...coins].filter((code) => !latest(code));
}

function lookAtFixedRates(rates: CommandContext['rates'], connected: Connected): Finding[] {
  const missing = coinsWithoutRate(rates, connected);
  return missing.length === 0
    ? [ok('The file of exchange rates has every coin')]
    : [
        warning(
          `No rate of ${missing.join(', ')}: nobody can pay in it. Add it to dollarsPerUnit of RATES_FILE`,
        ),
      ];
}

/** The answer of the running server about itself. */
const readiness = z.object({ message: z.string() });

async function lookAtServer({ config, connected, publicUrl, signal }: CommandContext): Promise<Finding[]> {
  const isLive = connected.some(({ network }) => network.mode === 'live');
  const found: Finding[] = [];
  if (isLive && config.publicUrl === undefined) {
    found.push(problem(`PUBLIC_URL is not set: payers would get links to ${publicUrl}`));
  } else if (isLive && !publicUrl.startsWith('https:')) {
    found.push(problem(`PUBLIC_URL is ${publicUrl}: payers can be sent elsewhere unless it is https`));
  }
  try {
    const reply = await fetch(`${publicUrl}/readyz`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
    });
    const reported = readiness.safeParse(await reply.json().catch(() => undefined));
    const text =
      reported.data?.message ?? `It answers with HTTP ${reply.status}, but the reply is not from this server`;
    const isReady = reply.ok && reported.success;
    if (!isReady) found.push(problem(`${publicUrl}: ${text}`));
    // Text after the first word is about a problem that does not keep the server from serving.
    else
      found.push(
        text === 'Ready' ? ok(`A server is ready at ${publicUrl}`) : warning(`${publicUrl}: ${text}`),
      );
  } catch (error) {
    found.push(
      problem(`No server answers at ${publicUrl}: start it, or correct PUBLIC_URL (${errorMessage(error)})`),
    );
  }
  return found;
}

/** The fee, keys, webhooks and deposit keys of each shop. */
async function lookAtShops(context: CommandContext): Promise<Finding[]> {
  const { database, merchants, keys, endpoints, depositKeys, connected } = context;
  const [shops, allKeys, allEndpoints] = await Promise.all([
    merchants.list(database.reader),
    keys.list(),
    endpoints.list(database.reader),
  ]);
  if (shops.length === 0) return [problem('There is no shop: run init --name NAME')];
  const isLive = connected.some(({ network }) => network.mode === 'live');
  const isReady = allKeys.some(
    ({ mode, kind, revokedAt }) => mode === 'live' && kind === 'public' && !revokedAt,
  );
  const unready =
    isLive && !isReady
      ? [
          problem(
            'No shop has a public key for live mode, so no payer sees a checkout: keys create --merchant ID --kind public --mode live',
          ),
        ]
      : [];
  const ofShops = shops.flatMap(({ id, name, feeBasisPoints, supportUrl, redirectOrigins }) => {
    const found: Finding[] = [];
    const say = (text: string) => found.push(warning(`${name}: ${text}`));
    for (const mode of ['test', 'live'] as const) {
      const own = allKeys.filter(
        (key) => key.merchantId === id && key.mode === mode && key.revokedAt === null,
      );
      if (own.length === 0) continue;
      for (const kind of ['public', 'secret'] as const) {
        if (own.some((key) => key.kind === kind)) continue;
        say(`no ${kind} key for ${mode} mode: keys create --merchant ${id} --kind ${kind} --mode ${mode}`);
      }
      const endpoint = allEndpoints.find((one) => one.merchantId === id && one.mode === mode);
      if (!endpoint) {
        say(
          `no webhook for ${mode} mode, so its server does not learn of payments: merchants update ${id} --mode ${mode} --webhook-url URL`,
        );
      } else if (endpoint.disabledAt !== null) {
        found.push(
          problem(
            `${name}: the ${mode} webhook answered that it is gone, so nothing is sent. Set its URL again: merchants update ${id} --mode ${mode} --webhook-url ${endpoint.url}`,
          ),
        );
      }
      if (mode === 'test') continue;
      if (feeBasisPoints > 0)
        say(
          `a fee of ${feeBasisPoints / 100} % is booked on each payment: merchants update ${id} --fee-basis-points 0 turns it off`,
        );
      if (supportUrl === '')
        say(`payers have no link to your help: merchants update ${id} --support-url URL`);
      if (!redirectOrigins || redirectOrigins.length === 0)
        say(`pages cannot send payers back to the shop: merchants update ${id} --redirect-origins URL`);
      for (const { network } of connected) {
        if (
          network.mode !== 'live' ||
          depositKeys.sources.find({ merchantId: id, mode }, network.family, network.addressNet)
        )
          continue;
        found.push(
          problem(
            `${name}: no deposit key for ${network.code}, which is not offered: deposit-keys set --merchant ${id} --mode live --family ${network.family}`,
          ),
        );
      }
    }
    return found.length === 0 ? [ok(`${name} has keys and webhooks`)] : found;
  });
  return [...unready, ...ofShops];
}

const words = { ok: 'ok  ', warning: 'warn', problem: 'FAIL' } satisfies Record<Finding['kind'], string>;

export const doctor = command({
  summary: 'Says what keeps the shops from taking money, and what to do.',
  details:
    'Looks at the settings, the database and its disk, the clock, the running server and its proxy, the marker against restores, each shop, the networks and the exchange rates. It changes nothing. Exits with 1 if there is a problem; warnings are about what works, and could work better.',
  async run(context) {
    const sections: Record<string, readonly Finding[]> = {};
    for (const [name, look] of Object.entries(looks)) {
      sections[name] = await look(context).catch((error: unknown) => [problem(errorMessage(error))]);
    }
    const ofModules = await context.hooks
      .examine()
      .catch((error: unknown) => [{ section: 'modules', ...problem(errorMessage(error)) }]);
    for (const { section, kind, text } of ofModules)
      sections[section] = [...(sections[section] ?? []), { kind, text }];
    const all = Object.values(sections).flat();
    const count = (kind: Finding['kind']) => all.filter((one) => one.kind === kind).length;
    const lines = Object.entries(sections).flatMap(([name, found]) =>
      found.map(({ kind, text }) => `${words[kind]}  ${name.padEnd(9)} ${text}`),
    );
    const summary = `${count('ok')} ok, ${count('warning')} to improve, ${count('problem')} wrong`;
    return { json: sections, text: [...lines, '', summary].join('\n'), hasFailed: count('problem') > 0 };
  },
});
