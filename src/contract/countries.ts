/** Reference data: the countries that bank accounts may be held in. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';

const country = z.object({ name: z.string(), code: z.string(), flag: z.string() });

export const countries = {
  list: endpoint({
    method: 'GET',
    path: '/v1/countries',
    key: 'secret',
    description: 'Every supported country, with its two-letter code and the URL of its flag.',
    data: z.array(country),
    sample: {
      message: 'Countries fetched',
      data: [{ name: 'Nigeria', code: 'NG', flag: 'https://pay.example.com/flags/ng.svg' }],
    },
  }),
};
