/** Checks that each address of a treasury that holds money by the books has the mark by which sweeps find it. */
import { forwarderSources } from '../../core/addresses/owners.js';
import { holdingOf } from './unswept.js';
import { everyPageById } from '../../core/db/pages.js';
import { groupBy } from '../../core/shared/group-by.js';
import type { Check } from '../../core/audit/check-report.js';

export const checkUnswept: Check = async (reader, report) => {
  let checked = 0;
  const forwarders = reader
    .selectFrom('addresses')
    .select(['id', 'mode', 'address'])
    .where('source_id', 'like', forwarderSources);
  for await (const page of everyPageById(forwarders)) {
    checked += page.length;
    const addresses = page.map(({ address }) => address);
    const marks = await reader
      .selectFrom('unswept_forwarders')
      .selectAll()
      .where('address', 'in', addresses)
      .execute();
    const marked = new Set(marks.map(({ mode, network, address }) => `${mode}/${network}/${address}`));
    const received = await reader
      .selectFrom('receipts')
      .select(['mode', 'network', 'address'])
      .distinct()
      .where('address', 'in', addresses)
      .execute();
    for (const places of groupBy(received, ({ mode, network }) => `${mode}/${network}`).values()) {
      const [first] = places;
      if (!first) continue;
      const held = await holdingOf(
        reader,
        first,
        places.map(({ address }) => address),
      );
      for (const address of held) {
        const { mode, network } = first;
        report.expect(
          marked.has(`${mode}/${network}/${address}`),
          `${address} holds money on ${network} in ${mode} mode, and no sweep would find it: use "sweeps plan --all"`,
        );
      }
    }
  }
  return checked;
};
