/** The hosted page's own texts, in the widget's ten languages. Only the English has been checked by a native reader. */

const en = {
  // `{shop}` is the merchant's name.
  pay: 'Pay {shop}',
  needsScript: 'This page needs JavaScript to show how to pay.',
  notFound: 'Payment not found',
  notFoundHelp: 'Check the link, or ask the shop that gave it to you.',
  unavailable: 'Payment unavailable',
  unavailableShop: '{shop} cannot take payments here right now',
  unavailableHelp:
    'You have not been charged. Please tell the shop that its account has no active public key.',
};

export type PageTexts = Readonly<Record<keyof typeof en, string>>;

const texts = {
  en,
  fr: {
    pay: 'Payer {shop}',
    needsScript: 'Cette page a besoin de JavaScript pour montrer comment payer.',
    notFound: 'Paiement introuvable',
    notFoundHelp: 'Vérifiez le lien, ou demandez à la boutique qui vous l’a donné.',
    unavailable: 'Paiement indisponible',
    unavailableShop: '{shop} ne peut pas recevoir de paiements ici pour le moment',
    unavailableHelp:
      'Vous n’avez pas été débité. Prévenez la boutique que son compte n’a pas de clé publique active.',
  },
  es: {
    pay: 'Pagar a {shop}',
    needsScript: 'Esta página necesita JavaScript para mostrar cómo pagar.',
    notFound: 'Pago no encontrado',
    notFoundHelp: 'Revisa el enlace, o pregunta a la tienda que te lo dio.',
    unavailable: 'Pago no disponible',
    unavailableShop: '{shop} no puede recibir pagos aquí en este momento',
    unavailableHelp:
      'No se te ha cobrado. Avisa a la tienda de que su cuenta no tiene una clave pública activa.',
  },
  pt: {
    pay: 'Pagar a {shop}',
    needsScript: 'Esta página precisa de JavaScript para mostrar como pagar.',
    notFound: 'Pagamento não encontrado',
    notFoundHelp: 'Confira o link, ou pergunte à loja que o enviou.',
    unavailable: 'Pagamento indisponível',
    unavailableShop: '{shop} não pode receber pagamentos aqui no momento',
    unavailableHelp: 'Você não foi cobrado. Avise a loja que a conta dela não tem chave pública ativa.',
  },
  ar: {
    pay: 'الدفع إلى {shop}',
    needsScript: 'تحتاج هذه الصفحة إلى JavaScript لتعرض طريقة الدفع.',
    notFound: 'لم يُعثر على الدفعة',
    notFoundHelp: 'تحقق من الرابط، أو اسأل المتجر الذي أعطاك إياه.',
    unavailable: 'الدفع غير متاح',
    unavailableShop: 'لا يستطيع {shop} استلام المدفوعات هنا الآن',
    unavailableHelp: 'لم يُخصم منك شيء. يُرجى إبلاغ المتجر بأن حسابه ليس فيه مفتاح عام نشط.',
  },
  ha: {
    pay: 'Biya {shop}',
    needsScript: 'Wannan shafi yana buƙatar JavaScript don nuna yadda za a biya.',
    notFound: 'Ba a sami biyan ba',
    notFoundHelp: 'Duba mahaɗin, ko tambayi shagon da ya ba ka shi.',
    unavailable: 'Ba za a iya biya ba',
    unavailableShop: '{shop} ba zai iya karɓar kuɗi a nan yanzu ba',
    unavailableHelp:
      'Ba a caje ka komai ba. Ka sanar da shagon cewa asusunsa ba shi da maɓallin jama’a mai aiki.',
  },
  yo: {
    pay: 'San owó fún {shop}',
    needsScript: 'Ojú ewé yìí nílò JavaScript láti fi bí a ṣe ń sanwó hàn.',
    notFound: 'A kò rí ìsanwó náà',
    notFoundHelp: 'Yẹ ìjápọ̀ náà wò, tàbí béèrè lọ́wọ́ ilé ìtajà tó fún ọ.',
    unavailable: 'Ìsanwó kò sí',
    unavailableShop: '{shop} kò lè gba owó níbí báyìí',
    unavailableHelp:
      'A kò gba owó kankan lọ́wọ́ rẹ. Jọ̀wọ́ sọ fún ilé ìtajà pé àkáǹtì wọn kò ní public key tó ń ṣiṣẹ́.',
  },
  ig: {
    pay: 'Kwụọ {shop}',
    needsScript: 'Peeji a chọrọ JavaScript iji gosi otú e si akwụ ụgwọ.',
    notFound: 'Ahụghị ịkwụ ụgwọ ahụ',
    notFoundHelp: 'Lelee njikọ ahụ, ma ọ bụ jụọ ụlọ ahịa nyere gị ya.',
    unavailable: 'Ịkwụ ụgwọ adịghị',
    unavailableShop: '{shop} enweghị ike ịnata ego ebe a ugbu a',
    unavailableHelp: 'Anaraghị gị ego ọ bụla. Biko gwa ụlọ ahịa na akaụntụ ya enweghị public key na-arụ ọrụ.',
  },
  sw: {
    pay: 'Lipa {shop}',
    needsScript: 'Ukurasa huu unahitaji JavaScript ili kuonyesha jinsi ya kulipa.',
    notFound: 'Malipo hayakupatikana',
    notFoundHelp: 'Kagua kiungo, au uliza duka lililokupa.',
    unavailable: 'Malipo hayapatikani',
    unavailableShop: '{shop} haiwezi kupokea malipo hapa kwa sasa',
    unavailableHelp:
      'Hukutozwa chochote. Tafadhali liambie duka kwamba akaunti yake haina ufunguo wa umma unaofanya kazi.',
  },
  zh: {
    pay: '向 {shop} 付款',
    needsScript: '此页面需要 JavaScript 才能显示付款方式。',
    notFound: '找不到该付款',
    notFoundHelp: '请检查链接，或询问提供链接的商家。',
    unavailable: '暂时无法付款',
    unavailableShop: '{shop} 目前无法在此收款',
    unavailableHelp: '您没有被扣款。请告知商家：其账户没有可用的公钥。',
  },
} as const satisfies Readonly<Record<string, PageTexts>>;

export type PageLanguage = keyof typeof texts;

export interface PageLocale {
  /** As the payer asked for it, such as fr-CA: for `lang`, so that numbers follow the region. */
  readonly tag: string;
  readonly language: PageLanguage;
  readonly isRtl: boolean;
  readonly texts: PageTexts;
}

const languageTag = /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i;

/** The first of the payer's languages that there is; English if there is none. @param tags best first */
export function pickLocale(tags: readonly string[]): PageLocale {
  const isKnown = (language: string): language is PageLanguage => Object.hasOwn(texts, language);
  for (const tag of tags) {
    const language = tag.toLowerCase().split('-')[0] ?? '';
    if (languageTag.test(tag) && isKnown(language)) {
      return { tag, language, isRtl: language === 'ar', texts: texts[language] };
    }
  }
  return { tag: 'en', language: 'en', isRtl: false, texts: texts.en };
}
