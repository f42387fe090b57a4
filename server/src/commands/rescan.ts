/** `chains rescan`: reads blocks again, to find payments that were missed. */
import { acceptReorg, rescan } from '../chains/rescan.js';
import { oneOf, required, text, UsageError, type Command } from './command.js';

export const rescanCommands: Readonly<Record<string, Command>> = {
  'chains rescan': {
    usage: 'chains rescan --network CODE --from HEIGHT [--mode test|live] [--accept-reorg]',
    help: `Reads the blocks of a network again, up to the last one that was scanned, and credits what was missed: for example what
was paid in a token that was added to NETWORKS_FILE later. What is known already changes nothing. The server may keep
running. Says how far it is while it works.

A reorganisation that reaches below the blocks that are kept, which are at least 200, stops a network: "chains status" says so.
Check first that its nodes are on the right chain. Then choose a block before the fork and add --accept-reorg: everything that
was received from that block on is taken back, and the server reads on from there and credits it again as it finds it. A
development chain that was started anew is such a reorganisation: --from 1 --accept-reorg.

  --network CODE  the network
  --from HEIGHT   the first block to read
  --mode MODE     the mode of the network, if both modes have one of this name
  --accept-reorg  go on with a chain that was reorganised that deep`,
    options: { network: text, from: text, mode: text, 'accept-reorg': { type: 'boolean' } },
    positionals: [],
    async run({ database, chains, receipts, progress }, options) {
      const code = required(options, 'network');
      const from = required(options, 'from');
      if (!/^\d{1,10}$/.test(from)) {
        throw new UsageError(`--from must be the height of a block, not "${from}"`);
      }
      const mode = options['mode'] === undefined ? undefined : oneOf(options, 'mode', ['test', 'live']);
      const [chain, ...others] = chains.filter(
        (one) => one.network === code && (mode === undefined || one.mode === mode),
      );
      if (!chain) throw new UsageError(`There is no network "${code}"`);
      if (others.length > 0)
        throw new UsageError(`Both modes have a network "${code}": add --mode test or --mode live`);
      const work = {
        ...{ database, chain, sink: receipts, from: Number(from), signal: new AbortController().signal },
        onProgress: (height: number, end: number) => progress(`${code}: block ${height} of ${end}`),
      };
      if (options['accept-reorg'] === true) {
        if (Number(from) < 1) throw new UsageError('--from must be at least 1 with --accept-reorg');
        const { before, now } = await acceptReorg(work);
        return {
          json: { network: code, mode: chain.mode, from: Number(from), before, now },
          text: `Took back what was received on ${code} from block ${from} on. The server reads on from there; it was at block ${before}`,
        };
      }
      const last = await rescan(work);
      return {
        json: { network: code, mode: chain.mode, from: Number(from), to: last ?? null },
        text:
          last === undefined
            ? `No block of ${code} was scanned from ${from} on: there is nothing to read again`
            : `Read ${code} again from block ${from} to ${last}`,
      };
    },
  },
};
