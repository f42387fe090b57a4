/** Reference data: the countries where bank accounts can be held. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';

const country = z.object({ name: z.string(), code: z.string(), flag: z.string() });

export const countries = {
  list: endpoint({
    method: 'GET',
    path: '/v1/countries',
    key: 'secret',
    description: 'Lists the supported countries, with two-letter codes and flag URLs.',
    data: z.array(country),
    sample: {
      message: 'Countries fetched',
      data: [{ name: 'Nigeria', code: 'NG', flag: 'https://pay.example.com/flags/ng.svg' }],
    },
  }),
};
