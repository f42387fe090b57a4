/** The check of a transfer, in Igbo. No native reader has checked them yet. */
import type { TransferMessages } from '../en.js';

export const texts: TransferMessages = {
  transferField: 'Hash nke azụmahịa ma ọ bụ njikọ explorer',
  transferAsk: 'Lelee',
  transferNoHash:
    'Ọ nweghị hash ebe ahụ: ọnụọgụ na mkpụrụedemede 64 site na a ruo f, n’akụkọ wallet ma ọ bụ exchange gị.',
  transferSecret:
    'Nke a yiri private key ma ọ bụ okwu wallet. Ezighị ya. Onye ọ bụla maara ya nwere ike imefu ihe niile: bufee ego gị na wallet ọhụrụ.',
  transferPaid: 'Ọ kwụrụ ịkwụ ụgwọ a: {amount} na {network}. Nkwenye: {confirmations} n’ime {required}.',
  transferOtherCoin:
    'O wetara ụlọ ahịa {amount} na {network}, mana ịkwụ ụgwọ a chọrọ {currency} na {asked}. Jụọ ụlọ ahịa.',
  transferOtherAddress:
    'Ọ dị na {network}, mana ọ kwụghị ihe ọ bụla na adreesị a. Jiri adreesị dị na wallet ma ọ bụ exchange gị tụnyere ya.',
  transferFailed: 'Ọ dara na {network}: e zigaghị ihe ọ bụla.',
  transferUnknown:
    '{network} amabeghị ya. Lelee ọzọ mgbe nkeji ole na ole gachara. Ọ bụrụ na i zigara na netwọk ọzọ, jụọ ụlọ ahịa.',
  transferWait:
    'Ị lelela ọtụtụ ugboro. Lelee ọzọ mgbe sekọnd {seconds} gachara; a ka na-eche ịkwụ ụgwọ a nche.',
};
