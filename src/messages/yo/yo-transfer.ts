/** The check of a transfer, in Yoruba. No native reader has checked them yet. */
import type { TransferMessages } from '../en.js';

export const texts: TransferMessages = {
  transferField: 'Hash ìdúnàádúrà tàbí ìjápọ̀ explorer',
  transferAsk: 'Ṣàyẹ̀wò',
  transferNoHash: 'Kò sí hash níbẹ̀: nọ́ńbà àti lẹ́tà 64 láti a dé f, nínú ìtàn wallet tàbí exchange rẹ.',
  transferSecret:
    'Èyí jọ private key tàbí àwọn ọ̀rọ̀ wallet. A kò fi ránṣẹ́. Ẹni tó bá mọ̀ ọ́n lè ná gbogbo rẹ̀: gbé owó rẹ lọ sí wallet tuntun.',
  transferPaid: 'Ó san ìsanwó yìí: {amount} lórí {network}. Ìjẹ́rìísí: {confirmations} nínú {required}.',
  transferOtherCoin:
    'Ó mú {amount} lórí {network} wá fún ilé ìtajà, ṣùgbọ́n ìsanwó yìí ń fẹ́ {currency} lórí {asked}. Béèrè lọ́wọ́ ilé ìtajà.',
  transferOtherAddress:
    'Ó wà lórí {network}, ṣùgbọ́n kò san nǹkan kan sí àdírẹ́sì yìí. Fi àdírẹ́sì wé ti wallet tàbí exchange rẹ.',
  transferFailed: 'Ó kùnà lórí {network}: a kò fi nǹkan kan ránṣẹ́.',
  transferUnknown:
    '{network} kò tíì mọ̀ ọ́n. Tún ṣàyẹ̀wò lẹ́yìn ìṣẹ́jú díẹ̀. Bí o bá fi ránṣẹ́ lórí nẹ́tíwọ́ọ̀kì mìíràn, béèrè lọ́wọ́ ilé ìtajà.',
  transferWait: 'O ti ṣàyẹ̀wò púpọ̀. Tún gbìyànjú lẹ́yìn ìṣẹ́jú àáyá {seconds}; a ṣì ń ṣọ́ ìsanwó náà.',
};
