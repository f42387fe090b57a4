/** Sends recorded statements to PostgreSQL as the API sends them: those of a flight in one packet, with one Sync. */
import pg from 'pg';

/**
 * @param {string} databaseUrl
 * @returns {Promise<(units: readonly import('./record-statements.mjs').Unit[], own?: (value: string | null) => string | null) => Promise<void>>}
 * sends units one after the other, each on a connection of a pool; `own` replaces their values
 */
export async function createSender(databaseUrl) {
  const { Flight } = await import('../server/dist/core/db/flight.js');
  // pg's types lack `pipeline`.
  const options = { connectionString: databaseUrl, max: 10, pipeline: true };
  const pool = new pg.Pool(options);
  /** @type {Map<string, string>} */
  const names = new Map();
  const nameOf = (/** @type {string} */ text) => {
    const name = names.get(text) ?? `recorded_${names.size}`;
    names.set(text, name);
    return name;
  };
  const isControl = (/** @type {string} */ text) => /^(begin|commit|rollback)/.test(text);
  return async (units, own = (value) => value) => {
    for (const unit of units) {
      const client = await pool.connect();
      try {
        for (const statements of unit) {
          const flight = new Flight(pg.types);
          const answers = statements.map(({ text, values }) => {
            const config = { text, values: values.map(own) };
            return flight.add(isControl(text) ? config : { ...config, name: nameOf(text) });
          });
          client.query(flight);
          await Promise.all(answers);
        }
      } finally {
        client.release();
      }
    }
  };
}
