/** `init`: makes a shop with its keys, and prints the tag for its page and a link into its console. */
import { command } from '../../core/commands/command.js';
import * as option from '../../core/commands/options.js';
import { requireCurrency } from '../../core/money/amounts.js';
import { retention, spellPeriod } from '../../core/shared/retention.js';

const withSandbox =
  'Next: open the page, press the button, and pay with simulated money. "doctor" says what is missing for real money.';
const withoutSandbox =
  'These keys are for test mode, and SANDBOX is off: nobody can send simulated money. For real money, make keys with "keys create --mode live"; "doctor" says what is missing.';

export const init = command({
  summary: 'Makes a shop with test keys, and a webhook if you give its URL, and prints its tag.',
  details:
    'Everything is for test mode: simulated networks, no real money. The secret key, the webhook secret and the link into its console are shown only here. Run it again for another shop.',
  options: {
    name: option.text('NAME', 'name of the shop, which payers see').required(),
    webhookUrl: option.text('URL', 'where test webhooks are sent, such as http://127.0.0.1:3000/webhooks'),
    price: option.decimal('price in the tag').default('49.90'),
    currency: option.code('currency of the price').default('USD'),
  },
  async run(context, { name, webhookUrl, price, currency }) {
    const { database, accountChanges, actor, publicUrl, currencies, isSandboxOn, hooks } = context;
    const baseCurrency = requireCurrency(currencies, currency, 'currency').code;
    const mode = 'test';
    const made = await database.write(async (transaction) => {
      const merchant = await accountChanges.createMerchant(transaction, { name }, actor);
      const owner = { merchantId: merchant.id, mode, label: 'init' } as const;
      const publicKey = await accountChanges.createKey(transaction, { ...owner, kind: 'public' }, actor);
      const secretKey = await accountChanges.createKey(transaction, { ...owner, kind: 'secret' }, actor);
      const url = { url: webhookUrl };
      const secret = await accountChanges.changeWebhook(
        transaction,
        { merchantId: merchant.id, mode },
        actor,
        url,
      );
      const link = await hooks.ownerLink(transaction, merchant.id, actor);
      return {
        merchant,
        publicKey: publicKey.key,
        secretKey: secretKey.key,
        webhookSecret: secret ?? null,
        consoleUrl: link ?? null,
      };
    });
    const { merchant, publicKey, secretKey, webhookSecret, consoleUrl } = made;
    const tag = `<script type="module" src="${publicUrl}/crypto-checkout.js"></script>
<crypto-checkout
  public-key="${publicKey}"
  amount="${price}"
  base-currency="${baseCurrency}"
  tx-ref="order-1"
></crypto-checkout>`;
    return {
      json: { id: merchant.id, name, mode, publicKey, secretKey, webhookSecret, consoleUrl, tag },
      text: `Made the shop ${JSON.stringify(name)}, ${merchant.id}. Save what is secret: it is not shown again.

  Secret key      ${secretKey}
${webhookSecret === null ? '' : `  Webhook secret  ${webhookSecret}\n`}
Put this into your page:

${tag}

${consoleUrl === null ? '' : `Open its console with this link. It works once, within ${spellPeriod(retention.signInLinkMs)}:\n\n${consoleUrl}\n\n`}${isSandboxOn ? withSandbox : withoutSandbox}`,
    };
  },
});
