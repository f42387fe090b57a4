/** The check of a transfer, in Swahili. No native reader has checked them yet. */
import type { TransferMessages } from '../en.js';

export const texts: TransferMessages = {
  transferField: 'Hash ya muamala au kiungo cha explorer',
  transferAsk: 'Angalia',
  transferNoHash:
    'Hapo hakuna hash: tarakimu na herufi 64 kutoka a hadi f, katika historia ya pochi au soko lako.',
  transferSecret:
    'Hiyo inaonekana kama ufunguo wa siri au maneno ya pochi. Haikutumwa. Anayeijua anaweza kutumia kila kitu: hamishia sarafu kwenye pochi mpya.',
  transferPaid:
    'Ulilipa malipo haya: {amount} kwenye {network}. Uthibitisho: {confirmations} kati ya {required}.',
  transferOtherCoin:
    'Ulileta {amount} kwenye {network} kwa duka, lakini malipo haya yanataka {currency} kwenye {asked}. Uliza duka.',
  transferOtherAddress:
    'Uko kwenye {network}, lakini haukulipa chochote kwa anwani hii. Linganisha anwani katika pochi au soko lako.',
  transferFailed: 'Ulishindwa kwenye {network}: hakuna kilichotumwa.',
  transferUnknown:
    '{network} haiujui bado. Angalia tena baada ya dakika chache. Ikiwa ulituma kwa mtandao mwingine, uliza duka.',
  transferWait:
    'Umeangalia mara nyingi. Angalia tena baada ya sekunde {seconds}; malipo yanaendelea kufuatiliwa.',
};
