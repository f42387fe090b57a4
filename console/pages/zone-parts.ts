/** The time zone of the shop, among the settings. */
import type { TemplateResult } from 'lit';
import { settingsApi } from '../../src/contract/console-settings.js';
import { timeZones } from '../../src/platform.js';
import { texts } from '../messages/settings.js';
import type { View } from '../page.js';
import { button } from '../ui/button.js';
import { details, section } from '../ui/details.js';
import { describeZone, setShopZone } from '../zone.js';

export const zoneSection = ({ timeZone }: { readonly timeZone: string }, view: View): TemplateResult =>
  section(
    texts.zone,
    details([
      [texts.zoneLabel, timeZone],
      [texts.zoneShown, describeZone(view.now())],
    ]),
    button(view, { text: texts.zoneChange, permission: 'shop.update', run: () => change(timeZone, view) }),
  );

/** Browsers list some zones by their old names only, and take both. */
const renamed = [
  ...[
    'Africa/Asmara',
    'America/Argentina/Buenos_Aires',
    'America/Nuuk',
    'Asia/Ho_Chi_Minh',
    'Asia/Kathmandu',
  ],
  ...['Asia/Kolkata', 'Asia/Yangon', 'Atlantic/Faroe', 'Europe/Kyiv', 'Pacific/Chuuk', 'Pacific/Kanton'],
];

async function change(before: string, view: View): Promise<void> {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = [...new Set([...renamed, ...timeZones()])].sort();
  const values = await view.ask({
    title: texts.zoneTitle,
    fields: [
      {
        name: 'timeZone',
        label: texts.zoneLabel,
        value: before,
        hint: texts.zoneHint(own),
        options: [...new Set([before, own, 'UTC', ...zones])].map((name) => [name, name] as const),
      },
    ],
    action: texts.save,
  });
  const timeZone = values?.['timeZone'];
  if (timeZone === undefined) return;
  await view.act(async () => {
    const { data } = await view.api(settingsApi.shop.update, { body: { timeZone } });
    setShopZone(data.timeZone);
    return data;
  }, texts.saved);
}
