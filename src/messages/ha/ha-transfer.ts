/** The check of a transfer, in Hausa. No native reader has checked them yet. */
import type { TransferMessages } from '../en.js';

export const texts: TransferMessages = {
  transferField: 'Hash ɗin ma’amala ko mahaɗin explorer',
  transferAsk: 'Duba',
  transferNoHash: 'Babu hash a nan: lambobi da haruffa 64 daga a zuwa f, a tarihin wallet ko exchange ɗinka.',
  transferSecret:
    'Wannan ya yi kama da private key ko kalmomin wallet. Ba a aika ba. Duk wanda ya sani zai iya kashe komai: ka matsar da kuɗin zuwa sabon wallet.',
  transferPaid: 'Ta biya wannan biyan: {amount} a {network}. Tabbatarwa: {confirmations} cikin {required}.',
  transferOtherCoin:
    'Ta kawo {amount} a {network} ga shagon, amma wannan biyan yana son {currency} a {asked}. Tambayi shagon.',
  transferOtherAddress:
    'Tana kan {network}, amma ba ta biya komai zuwa wannan adireshin ba. Kwatanta adireshin da na wallet ko exchange ɗinka.',
  transferFailed: 'Ta gaza a {network}: ba a aika komai ba.',
  transferUnknown:
    '{network} ba ta san ta ba tukuna. Sake dubawa bayan ’yan mintuna. Idan ka aika a wata hanyar sadarwa, tambayi shagon.',
  transferWait: 'Ka duba sau da yawa. Sake dubawa bayan daƙiƙa {seconds}; ana ci gaba da lura da biyan.',
};
