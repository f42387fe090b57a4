/** The texts in Arabic. No native reader has checked them yet. */
import type { FirstMessages } from '../en.js';
import { plural } from '../plural.js';

const coins = { one: 'عملة واحدة', two: 'عملتان', few: '# عملات', other: '# عملة' };
const minutes = { one: 'دقيقة واحدة', two: 'دقيقتين', few: '# دقائق', other: '# دقيقة' };

export const texts: FirstMessages = {
  testMode: 'وضع الاختبار: عملات وهمية. أي أموال حقيقية تُرسل إلى هنا تضيع.',
  order: 'الطلب {reference}',
  total: 'الإجمالي',
  items: 'طلبك',
  quantity: '{name} × {quantity}',

  idleHeading: 'الدفع بالعملات الرقمية',
  idleStatus: 'ادفع من أي محفظة أو منصة تداول.',
  offer: ({ coins: count, minutes: time }) =>
    `${plural('ar', count, coins)} · بلا حساب · السعر ثابت لمدة ${plural('ar', time, minutes)}`,
  pay: 'ادفع',
  payAmount: 'ادفع {amount}',
  creatingStatus: 'جارٍ بدء الدفع…',
  changedStatus: 'غيّر المتجر السعر من {old} إلى {amount}. أُلغيت دفعتك السابقة: لا ترسل شيئًا إلى عنوانها.',
  failedHeading: 'تعذّر البدء',
  failedStatus: 'حاول مرة أخرى. إذا تكرر الخطأ فاسأل المتجر.',
  tryAgain: 'حاول مرة أخرى',

  secretKey: 'هذا مفتاح سري. ألغِه الآن.',
  problemShop: 'إعدادات الدفع في المتجر غير صحيحة. يُرجى إبلاغ المتجر.',
  problemNetwork: 'لا اتصال بخدمة الدفع. حاول مرة أخرى.',

  openCheckout: 'الدفع بالعملات الرقمية',
  formRequired: 'أكمل الدفع قبل إرسال هذا النموذج.',

  back: 'رجوع',
  cancel: 'إلغاء الدفع',
  restart: 'استخدام عملة أخرى',
  continuePayment: 'متابعة الدفع',
  continue: 'متابعة',
  reconnecting: 'جارٍ إعادة الاتصال…',
  joined: 'هذه الدفعة مفتوحة في علامة تبويب أخرى. ها هي.',
  loading: 'جارٍ التحميل…',
  close: 'إغلاق',

  currency: 'العملة',
  currencyHeading: 'اختر عملة',
  currencyStatus: 'اختر العملة التي تريد الدفع بها.',
  search: 'ابحث عن عملة',
  noMatch: 'لا توجد عملة تطابق «{query}».',
  noOptions: 'لا يعرض المتجر أي عملات الآن. حاول لاحقًا.',
  lastUsed: 'آخر ما استخدمته',
  network: 'الشبكة',
  networkHeading: 'اختر شبكة',
  networkStatus: 'اختر الشبكة التي سترسل عليها {currency}.',
  networkWarning: 'يجب أن ترسل محفظتك أو منصتك على الشبكة نفسها. ما يُرسل على شبكة أخرى قد يضيع.',
  lowestFee: 'أقل رسوم',
  networkFeeHigh: 'رسوم شبكة أعلى',
  minutes: ({ minutes: count }) => `نحو ${plural('ar', count, minutes)}`,
  settingStatus: 'جارٍ جلب السعر…',
  quotedHeading: 'جارٍ تثبيت سعر الصرف…',
  quotedStatus: 'تدفع نحو {amount} على {network}.',

  awaitingHeading: 'أرسل دفعتك',
  awaitingStatus: 'أرسل {amount} بالضبط على {network} قبل {time}.',
  partialHeading: 'أرسل الباقي',
  partialSeen: 'رُصد {seen}، وتأكد {confirmed}.',
  partialRest: 'أرسل المتبقي {due} (نحو {worth}) قبل {time}.',
  copyAmount: 'نسخ المبلغ',
  copyAddress: 'نسخ العنوان',
  amount: 'المبلغ',
  copiedShort: 'نُسخ',
  amountCopied: 'نُسخ المبلغ: {amount}',
  addressCopied: 'نُسخ العنوان. أرسل {currency} فقط على {network}.',
  address: 'العنوان',
  addressWarning: 'أرسل {currency} فقط على {network}. أي شيء آخر قد يضيع.',
  openInWallet: 'فتح في المحفظة',
  qr: 'رمز QR',
  qrAddress: 'رمز QR للعنوان {address}',
  qrPayment: 'رمز QR لدفع {amount} إلى {address}',
  qrHoldsAddress: 'يحتوي على العنوان فقط. أدخل {amount} بنفسك.',
  qrHoldsAmount: 'يحتوي على العنوان والمبلغ.',
  qrFailed: 'لم يُحمَّل رمز QR. انسخ العنوان بدلًا من ذلك.',
  timeLeft: 'الوقت المتبقي',
  soon: 'ينتهي قريبًا',
  urgent: 'الدقيقة الأخيرة',
  rate: 'سعر الصرف، ثابت حتى {time}',
  rateValue: '\u20661\u00a0{currency} ≈\u00a0{price}\u2069',
  fee: 'الرسوم',
  feeValue: 'رسوم الشبكة في محفظتك فقط',
  checkNow: 'افحص الآن',
  watching: 'نراقب الشبكة',
  checking: 'جارٍ الفحص…',
};

const style = { sample: '\u200f12,345.67\u00a0¤', symbols: { GBP: 'UK£' } };
export const prices = { ar: style, 'ar-AE': style };
