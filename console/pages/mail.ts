/**
 * The shop's e-mail to its payers.
 *
 * @place {"order": 193, "label": "E-mail to payers", "parent": "settings", "permission": "payerMail.retrieve"}
 */
import { html } from 'lit';
import { mailApi } from '../../src/contract/console-mail.js';
import { texts } from '../messages/mail.js';
import { page } from '../page.js';
import { payerMailSection, type PayerMail } from './mail-parts.js';

export default page<PayerMail>({
  title: () => texts.payers,
  load: async ({ api, signal }) => (await api(mailApi.payerMail.retrieve, {}, signal)).data,
  render: (payers, view) => html`<div class="panels">${payerMailSection(payers, view)}</div>`,
});
