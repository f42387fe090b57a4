/** `chains rescan`: reads blocks again, to find payments that were missed. */
import { rescan } from '../chains/rescan.js';
import { oneOf, required, text, UsageError, type Command } from './command.js';

export const rescanCommands: Readonly<Record<string, Command>> = {
  'chains rescan': {
    usage: 'chains rescan --network CODE --from HEIGHT [--mode test|live]',
    help: `Reads the blocks of a network again, up to the last one that was scanned, and credits what was missed: for example what
was paid in a token that was added to NETWORKS_FILE later. What is known already changes nothing. The server may keep
running. Says how far it is while it works.

  --network CODE  the network
  --from HEIGHT   the first block to read
  --mode MODE     the mode of the network, if both modes have one of this name`,
    options: { network: text, from: text, mode: text },
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
      const last = await rescan({
        database,
        chain,
        sink: receipts,
        from: Number(from),
        signal: new AbortController().signal,
        onProgress: (height, end) => progress(`${code}: block ${height} of ${end}`),
      });
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
