/** The texts of the page where a payer claims a refund, in the widget's ten languages. Only the English has been checked by a native reader. */
import type { PageLanguage } from './page-texts.js';

/** `{shop}`, `{fee}`, `{currency}`, `{network}`, `{wallet}`, `{host}` and `{time}` are filled in by the page's script. */
export interface ClaimTexts {
  readonly title: string;
  readonly loading: string;
  readonly enterHeading: string;
  readonly enterHelp: string;
  readonly exchangeHelp: string;
  readonly address: string;
  readonly useWallet: string;
  readonly browserWallet: string;
  readonly check: string;
  readonly confirmHeading: string;
  readonly confirmHelp: string;
  readonly confirm: string;
  readonly back: string;
  readonly change: string;
  readonly waitingHeading: string;
  readonly waitingHelp: string;
  readonly sendingHeading: string;
  readonly sendingHelp: string;
  readonly paidHeading: string;
  readonly paidHelp: string;
  readonly failedHeading: string;
  readonly failedHelp: string;
  readonly goneHeading: string;
  readonly goneHelp: string;
  readonly networkFee: string;
  readonly feeShop: string;
  readonly feeTaken: string;
  readonly feeOpen: string;
  readonly order: string;
  readonly reason: string;
  readonly network: string;
  readonly transaction: string;
  readonly until: string;
  readonly sameWallet: string;
  readonly prove: string;
  readonly notProven: string;
  readonly safety: string;
  readonly test: string;
  readonly wrongAddress: string;
  readonly busy: string;
  readonly offline: string;
  readonly retry: string;
  readonly contact: string;
}

export const claimTexts: Readonly<Record<PageLanguage, ClaimTexts>> = {
  en: {
    title: 'Refund',
    loading: 'Loading…',
    enterHeading: 'Where should we send your refund?',
    enterHelp: 'Enter an address of yours that receives {currency} on {network}.',
    exchangeHelp:
      'At an exchange, copy your deposit address for {currency} on {network}. Do not use the address that you paid from: at an exchange it is not yours.',
    address: 'Your address',
    useWallet: 'Use the address of {wallet}',
    browserWallet: 'your browser wallet',
    check: 'Continue',
    confirmHeading: 'Is this your address?',
    confirmHelp:
      'Compare every block with your wallet. Coins sent to a wrong address cannot be brought back.',
    confirm: 'Yes, send it here',
    back: 'No, change it',
    change: 'Change the address',
    waitingHeading: 'Waiting for the shop',
    waitingHelp:
      '{shop} approves it next. You can change the address until then, and close this page: the link shows how far it is.',
    sendingHeading: 'Your refund is being sent',
    sendingHelp: 'There is nothing to do. This page follows by itself.',
    paidHeading: 'Refund sent',
    paidHelp: 'It is on the network. An exchange may take some minutes to show it.',
    failedHeading: 'The refund could not be sent',
    failedHelp: 'Nothing has left yet. Ask {shop} to start it again.',
    goneHeading: 'Refund not found',
    goneHelp:
      'The link is incomplete, or it has ended: the shop cancelled the refund, made a newer link, or 30 days went by. Open the last link that you got, or ask the shop.',
    networkFee: 'Network fee',
    feeShop: 'Paid by the shop',
    feeTaken: '{fee}, already taken off',
    feeOpen: 'Taken off when it is sent, so a little less can arrive',
    order: 'Order',
    reason: 'Reason',
    network: 'Network',
    transaction: 'Transaction',
    until: 'Enter it by',
    sameWallet: 'The shop sees that this is the wallet that paid.',
    prove: 'Prove with {wallet} that it paid',
    notProven: 'The wallet did not prove it. You can go on without.',
    safety:
      'You are on {host}. Check that the shop gave you this link. Nobody needs your recovery phrase, a private key or a payment from you to refund you.',
    test: 'Test mode: no real money',
    wrongAddress:
      'This address cannot be used for {currency} on {network}. Copy one of your own from your wallet.',
    busy: 'Too many tries. Wait a minute, then try again.',
    offline: 'The service does not answer. Your entry is not lost: try again.',
    retry: 'Try again',
    contact: 'Contact the shop',
  },
  fr: {
    title: 'Remboursement',
    loading: 'Chargement…',
    enterHeading: 'Où envoyer votre remboursement\u00a0?',
    enterHelp: 'Saisissez une adresse à vous qui reçoit des {currency} sur {network}.',
    exchangeHelp:
      'Sur une plateforme d’échange, copiez votre adresse de dépôt {currency} sur {network}. N’utilisez pas l’adresse depuis laquelle vous avez payé\u00a0: sur une plateforme, elle n’est pas à vous.',
    address: 'Votre adresse',
    useWallet: 'Utiliser l’adresse de {wallet}',
    browserWallet: 'votre portefeuille de navigateur',
    check: 'Continuer',
    confirmHeading: 'Est-ce bien votre adresse\u00a0?',
    confirmHelp:
      'Comparez chaque bloc avec votre portefeuille. Des fonds envoyés à une mauvaise adresse sont perdus.',
    confirm: 'Oui, envoyer ici',
    back: 'Non, la modifier',
    change: 'Modifier l’adresse',
    waitingHeading: 'En attente de la boutique',
    waitingHelp:
      '{shop} doit maintenant l’approuver. D’ici là, vous pouvez modifier l’adresse, et fermer cette page\u00a0: le lien montre où cela en est.',
    sendingHeading: 'Votre remboursement est en cours d’envoi',
    sendingHelp: 'Vous n’avez rien à faire. Cette page se met à jour toute seule.',
    paidHeading: 'Remboursement envoyé',
    paidHelp: 'Il est sur le réseau. Une plateforme peut mettre quelques minutes à l’afficher.',
    failedHeading: 'Le remboursement n’a pas pu être envoyé',
    failedHelp: 'Rien n’est encore parti. Demandez à {shop} de le relancer.',
    goneHeading: 'Remboursement introuvable',
    goneHelp:
      'Le lien est incomplet, ou il n’est plus valable\u00a0: la boutique a annulé le remboursement ou créé un lien plus récent, ou 30 jours sont passés. Ouvrez le dernier lien reçu, ou demandez à la boutique.',
    networkFee: 'Frais de réseau',
    feeShop: 'À la charge de la boutique',
    feeTaken: '{fee}, déjà déduits',
    feeOpen: 'Déduits à l’envoi\u00a0: il peut arriver un peu moins',
    order: 'Commande',
    reason: 'Motif',
    network: 'Réseau',
    transaction: 'Transaction',
    until: 'À saisir avant le',
    sameWallet: 'La boutique voit que c’est le portefeuille qui a payé.',
    prove: 'Prouver avec {wallet} qu’il a payé',
    notProven: 'Le portefeuille ne l’a pas prouvé. Vous pouvez continuer sans.',
    safety:
      'Vous êtes sur {host}. Vérifiez que la boutique vous a bien donné ce lien. Personne n’a besoin de votre phrase de récupération, d’une clé privée ni d’un paiement pour vous rembourser.',
    test: 'Mode test\u00a0: pas d’argent réel',
    wrongAddress:
      'Cette adresse ne convient pas pour {currency} sur {network}. Copiez une de vos adresses depuis votre portefeuille.',
    busy: 'Trop d’essais. Attendez une minute, puis réessayez.',
    offline: 'Le service ne répond pas. Votre saisie n’est pas perdue\u00a0: réessayez.',
    retry: 'Réessayer',
    contact: 'Contacter la boutique',
  },
  es: {
    title: 'Reembolso',
    loading: 'Cargando…',
    enterHeading: '¿Adónde enviamos tu reembolso?',
    enterHelp: 'Escribe una dirección tuya que reciba {currency} en {network}.',
    exchangeHelp:
      'En un exchange, copia tu dirección de depósito de {currency} en {network}. No uses la dirección desde la que pagaste: en un exchange no es tuya.',
    address: 'Tu dirección',
    useWallet: 'Usar la dirección de {wallet}',
    browserWallet: 'la cartera de tu navegador',
    check: 'Continuar',
    confirmHeading: '¿Es esta tu dirección?',
    confirmHelp:
      'Compara cada bloque con tu cartera. Lo que se envía a una dirección equivocada no se puede recuperar.',
    confirm: 'Sí, enviar aquí',
    back: 'No, cambiarla',
    change: 'Cambiar la dirección',
    waitingHeading: 'Esperando a la tienda',
    waitingHelp:
      'Ahora lo aprueba {shop}. Hasta entonces puedes cambiar la dirección, y cerrar esta página: el enlace muestra cómo va.',
    sendingHeading: 'Se está enviando tu reembolso',
    sendingHelp: 'No tienes que hacer nada. Esta página se actualiza sola.',
    paidHeading: 'Reembolso enviado',
    paidHelp: 'Ya está en la red. Un exchange puede tardar unos minutos en mostrarlo.',
    failedHeading: 'No se pudo enviar el reembolso',
    failedHelp: 'Todavía no ha salido nada. Pide a {shop} que lo empiece de nuevo.',
    goneHeading: 'Reembolso no encontrado',
    goneHelp:
      'El enlace está incompleto o ya no vale: la tienda canceló el reembolso, hizo un enlace más nuevo, o pasaron 30 días. Abre el último que recibiste, o pregunta a la tienda.',
    networkFee: 'Comisión de red',
    feeShop: 'La paga la tienda',
    feeTaken: '{fee}, ya descontada',
    feeOpen: 'Se descuenta al enviarlo, así que puede llegar un poco menos',
    order: 'Pedido',
    reason: 'Motivo',
    network: 'Red',
    transaction: 'Transacción',
    until: 'Escríbela antes del',
    sameWallet: 'La tienda ve que es la cartera que pagó.',
    prove: 'Demostrar con {wallet} que pagó',
    notProven: 'La cartera no lo demostró. Puedes seguir sin ello.',
    safety:
      'Estás en {host}. Comprueba que la tienda te dio este enlace. Para reembolsarte, nadie necesita tu frase de recuperación, una clave privada ni un pago tuyo.',
    test: 'Modo de prueba: no es dinero real',
    wrongAddress: 'Esta dirección no sirve para {currency} en {network}. Copia una tuya desde tu cartera.',
    busy: 'Demasiados intentos. Espera un minuto y vuelve a probar.',
    offline: 'El servicio no responde. Lo que escribiste no se ha perdido: vuelve a probar.',
    retry: 'Volver a probar',
    contact: 'Contactar con la tienda',
  },
  pt: {
    title: 'Reembolso',
    loading: 'Carregando…',
    enterHeading: 'Para onde enviamos seu reembolso?',
    enterHelp: 'Informe um endereço seu que receba {currency} na rede {network}.',
    exchangeHelp:
      'Em uma corretora, copie seu endereço de depósito de {currency} na rede {network}. Não use o endereço de onde você pagou: em uma corretora, ele não é seu.',
    address: 'Seu endereço',
    useWallet: 'Usar o endereço de {wallet}',
    browserWallet: 'a carteira do navegador',
    check: 'Continuar',
    confirmHeading: 'Este é o seu endereço?',
    confirmHelp: 'Compare cada bloco com a sua carteira. O que vai para um endereço errado não volta.',
    confirm: 'Sim, enviar para cá',
    back: 'Não, mudar',
    change: 'Mudar o endereço',
    waitingHeading: 'Aguardando a loja',
    waitingHelp:
      'Agora {shop} precisa aprovar. Até lá você pode mudar o endereço, e fechar esta página: o link mostra o andamento.',
    sendingHeading: 'Seu reembolso está sendo enviado',
    sendingHelp: 'Não há nada a fazer. Esta página se atualiza sozinha.',
    paidHeading: 'Reembolso enviado',
    paidHelp: 'Já está na rede. Uma corretora pode levar alguns minutos para mostrar.',
    failedHeading: 'Não foi possível enviar o reembolso',
    failedHelp: 'Nada saiu ainda. Peça a {shop} que comece de novo.',
    goneHeading: 'Reembolso não encontrado',
    goneHelp:
      'O link está incompleto ou não vale mais: a loja cancelou o reembolso, fez um link mais novo, ou passaram 30 dias. Abra o último que você recebeu, ou pergunte à loja.',
    networkFee: 'Taxa de rede',
    feeShop: 'Paga pela loja',
    feeTaken: '{fee}, já descontada',
    feeOpen: 'Descontada no envio: pode chegar um pouco menos',
    order: 'Pedido',
    reason: 'Motivo',
    network: 'Rede',
    transaction: 'Transação',
    until: 'Informe até',
    sameWallet: 'A loja vê que é a carteira que pagou.',
    prove: 'Provar com {wallet} que ela pagou',
    notProven: 'A carteira não provou. Você pode continuar sem isso.',
    safety:
      'Você está em {host}. Confira se a loja lhe deu este link. Para reembolsar você, ninguém precisa da sua frase de recuperação, de uma chave privada nem de um pagamento seu.',
    test: 'Modo de teste: sem dinheiro real',
    wrongAddress:
      'Este endereço não serve para {currency} na rede {network}. Copie um endereço seu da sua carteira.',
    busy: 'Tentativas demais. Espere um minuto e tente de novo.',
    offline: 'O serviço não responde. O que você digitou não se perdeu: tente de novo.',
    retry: 'Tentar de novo',
    contact: 'Falar com a loja',
  },
  ar: {
    title: 'استرداد',
    loading: 'جارٍ التحميل…',
    enterHeading: 'إلى أين نرسل المبلغ المسترد؟',
    enterHelp: 'أدخل عنوانًا لك يستقبل {currency} على شبكة {network}.',
    exchangeHelp:
      'في منصة تداول، انسخ عنوان الإيداع الخاص بك لعملة {currency} على شبكة {network}. لا تستخدم العنوان الذي دفعت منه: في منصة التداول ليس ملكك.',
    address: 'عنوانك',
    useWallet: 'استخدم عنوان {wallet}',
    browserWallet: 'محفظة متصفحك',
    check: 'متابعة',
    confirmHeading: 'هل هذا عنوانك؟',
    confirmHelp: 'قارن كل جزء بما في محفظتك. ما يُرسل إلى عنوان خاطئ لا يمكن استعادته.',
    confirm: 'نعم، أرسله إلى هنا',
    back: 'لا، غيّره',
    change: 'تغيير العنوان',
    waitingHeading: 'في انتظار المتجر',
    waitingHelp:
      'على {shop} الموافقة الآن. يمكنك تغيير العنوان حتى ذلك الحين، وإغلاق هذه الصفحة: الرابط يعرض ما وصل إليه الأمر.',
    sendingHeading: 'يجري إرسال المبلغ المسترد',
    sendingHelp: 'لا شيء عليك فعله. تتحدث هذه الصفحة من تلقاء نفسها.',
    paidHeading: 'أُرسل المبلغ المسترد',
    paidHelp: 'هو على الشبكة الآن. قد تحتاج منصة التداول بضع دقائق لتعرضه.',
    failedHeading: 'تعذر إرسال المبلغ المسترد',
    failedHelp: 'لم يخرج شيء بعد. اطلب من {shop} أن يبدأه من جديد.',
    goneHeading: 'لم يُعثر على الاسترداد',
    goneHelp:
      'الرابط غير كامل أو انتهى: ألغى المتجر الاسترداد، أو أنشأ رابطًا أحدث، أو مر 30 يومًا. افتح آخر رابط وصلك، أو اسأل المتجر.',
    networkFee: 'رسوم الشبكة',
    feeShop: 'يدفعها المتجر',
    feeTaken: 'خُصمت بالفعل: {fee}',
    feeOpen: 'تُخصم عند الإرسال، لذا قد يصل مبلغ أقل قليلًا',
    order: 'الطلب',
    reason: 'السبب',
    network: 'الشبكة',
    transaction: 'المعاملة',
    until: 'أدخله قبل',
    sameWallet: 'يرى المتجر أنها المحفظة التي دفعت.',
    prove: 'أثبت عبر {wallet} أنها هي التي دفعت',
    notProven: 'لم تثبت المحفظة ذلك. يمكنك المتابعة من دونه.',
    safety:
      'أنت على {host}. تأكد من أن المتجر هو الذي أعطاك هذا الرابط. لا يحتاج أحد إلى عبارة الاسترداد أو مفتاح خاص أو دفعة منك كي يرد لك مالك.',
    test: 'وضع الاختبار: لا أموال حقيقية',
    wrongAddress:
      'لا يمكن استخدام هذا العنوان لعملة {currency} على شبكة {network}. انسخ عنوانًا لك من محفظتك.',
    busy: 'محاولات كثيرة. انتظر دقيقة ثم حاول مجددًا.',
    offline: 'الخدمة لا تجيب. ما أدخلته لم يضع: حاول مجددًا.',
    retry: 'حاول مجددًا',
    contact: 'تواصل مع المتجر',
  },
  ha: {
    title: 'Mayar da kuɗi',
    loading: 'Ana lodawa…',
    enterHeading: 'Ina za mu tura kuɗin da za a mayar maka?',
    enterHelp: 'Shigar da adireshinka da ke karɓar {currency} a kan {network}.',
    exchangeHelp:
      'A kasuwar musaya, kwafi adireshin ajiyarka na {currency} a kan {network}. Kada ka yi amfani da adireshin da ka biya daga gare shi: a kasuwar musaya ba naka ba ne.',
    address: 'Adireshinka',
    useWallet: 'Yi amfani da adireshin {wallet}',
    browserWallet: 'walet ɗin burauzarka',
    check: 'Ci gaba',
    confirmHeading: 'Wannan adireshinka ne?',
    confirmHelp:
      'Kwatanta kowane rukuni da walet ɗinka. Kuɗin da aka tura zuwa adireshin da ba daidai ba ba ya dawowa.',
    confirm: 'I, tura nan',
    back: 'A’a, canja shi',
    change: 'Canja adireshin',
    waitingHeading: 'Ana jiran shagon',
    waitingHelp:
      '{shop} zai amince yanzu. Za ka iya canja adireshin kafin nan, ka kuma rufe wannan shafi: mahaɗin yana nuna inda aka kai.',
    sendingHeading: 'Ana tura kuɗin da za a mayar maka',
    sendingHelp: 'Ba abin da za ka yi. Wannan shafi yana sabunta kansa.',
    paidHeading: 'An tura kuɗin',
    paidHelp: 'Yana kan hanyar sadarwa. Kasuwar musaya na iya ɗaukar mintuna kafin ta nuna shi.',
    failedHeading: 'Ba a iya tura kuɗin ba',
    failedHelp: 'Babu abin da ya fita tukuna. Nemi {shop} ya sake farawa.',
    goneHeading: 'Ba a sami mayar da kuɗin ba',
    goneHelp:
      'Mahaɗin bai cika ba, ko ya ƙare: shagon ya soke, ko ya yi sabon mahaɗi, ko kwanaki 30 sun wuce. Buɗe mahaɗi na ƙarshe da ka samu, ko tambayi shagon.',
    networkFee: 'Kuɗin network',
    feeShop: 'Shago ne ke biya',
    feeTaken: '{fee}, an riga an cire',
    feeOpen: 'Za a cire lokacin aikawa, don haka abin da zai iso zai iya raguwa kaɗan',
    order: 'Oda',
    reason: 'Dalili',
    network: 'Hanyar sadarwa',
    transaction: 'Ciniki',
    until: 'Shigar kafin',
    sameWallet: 'Shagon yana ganin cewa wannan ce walet ɗin da ta biya.',
    prove: 'Tabbatar da {wallet} cewa ita ta biya',
    notProven: 'Walet ɗin ba ta tabbatar ba. Za ka iya ci gaba ba tare da haka ba.',
    safety:
      'Kana kan {host}. Tabbatar shagon ne ya ba ka wannan mahaɗi. Ba wanda yake buƙatar kalmomin dawo da walet, maɓallin sirri ko biya daga gare ka don mayar maka da kuɗi.',
    test: 'Yanayin gwaji: babu kuɗi na gaske',
    wrongAddress:
      'Ba za a iya amfani da wannan adireshi don {currency} a kan {network} ba. Kwafi naka daga walet ɗinka.',
    busy: 'An yi ƙoƙari da yawa. Jira minti ɗaya, sannan ka sake gwadawa.',
    offline: 'Sabis ɗin ba ya amsawa. Abin da ka shigar bai ɓace ba: sake gwadawa.',
    retry: 'Sake gwadawa',
    contact: 'Tuntuɓi shagon',
  },
  yo: {
    title: 'Ìdápadà owó',
    loading: 'Ó ń ṣí…',
    enterHeading: 'Níbo ni kí a fi owó rẹ ránṣẹ́ sí?',
    enterHelp: 'Tẹ àdírẹ́sì rẹ tó ń gba {currency} lórí {network}.',
    exchangeHelp:
      'Ní ibi pàṣípààrọ̀, ṣe àdàkọ àdírẹ́sì ìfipamọ́ rẹ fún {currency} lórí {network}. Má lo àdírẹ́sì tí o fi sanwó: ní ibi pàṣípààrọ̀, kì í ṣe tìrẹ.',
    address: 'Àdírẹ́sì rẹ',
    useWallet: 'Lo àdírẹ́sì {wallet}',
    browserWallet: 'wọ́lẹ́ẹ̀tì aṣàwákiri rẹ',
    check: 'Tẹ̀síwájú',
    confirmHeading: 'Ṣé àdírẹ́sì rẹ nìyí?',
    confirmHelp: 'Fi ìpín kọ̀ọ̀kan wé wọ́lẹ́ẹ̀tì rẹ. Owó tó bá lọ sí àdírẹ́sì tí kò tọ́ kò lè padà.',
    confirm: 'Bẹ́ẹ̀ni, fi ránṣẹ́ síbí',
    back: 'Rárá, yí i padà',
    change: 'Yí àdírẹ́sì padà',
    waitingHeading: 'A ń dúró de ilé ìtajà',
    waitingHelp:
      '{shop} ni yóò fọwọ́ sí i báyìí. O lè yí àdírẹ́sì padà títí di ìgbà náà, kí o sì pa ojú ewé yìí dé: ìjápọ̀ náà ń fi ibi tó dé hàn.',
    sendingHeading: 'A ń fi owó rẹ ránṣẹ́',
    sendingHelp: 'Kò sí ohun tí o nílò láti ṣe. Ojú ewé yìí ń mú ara rẹ̀ bá a mu.',
    paidHeading: 'A ti fi owó ránṣẹ́',
    paidHelp: 'Ó wà lórí nẹ́tíwọ́ọ̀kì. Ibi pàṣípààrọ̀ lè gba ìṣẹ́jú díẹ̀ kí ó tó fi hàn.',
    failedHeading: 'A kò lè fi owó náà ránṣẹ́',
    failedHelp: 'Kò sí ohun tó tíì jáde. Sọ fún {shop} kí ó tún bẹ̀rẹ̀.',
    goneHeading: 'A kò rí ìdápadà owó náà',
    goneHelp:
      'Ìjápọ̀ náà kò pé, tàbí ó ti parí: ilé ìtajà fagilé e, ó ṣe ìjápọ̀ tuntun, tàbí ọjọ́ 30 ti kọjá. Ṣí ìjápọ̀ tó kẹ́yìn tí o gbà, tàbí béèrè lọ́wọ́ ilé ìtajà.',
    networkFee: 'Owó network',
    feeShop: 'Ilé ìtajà ló san án',
    feeTaken: '{fee}, a ti yọ ọ́ kúrò',
    feeOpen: 'A ó yọ ọ́ nígbà tí a bá fi ránṣẹ́, nítorí náà iye tó dé lè dín díẹ̀',
    order: 'Àṣẹ ìrajà',
    reason: 'Ìdí',
    network: 'Nẹ́tíwọ́ọ̀kì',
    transaction: 'Ìdúnàádúrà',
    until: 'Tẹ̀ ẹ́ ṣáájú',
    sameWallet: 'Ilé ìtajà rí i pé wọ́lẹ́ẹ̀tì tó sanwó nìyí.',
    prove: 'Fi {wallet} jẹ́rìí pé òun ló sanwó',
    notProven: 'Wọ́lẹ́ẹ̀tì náà kò jẹ́rìí. O lè tẹ̀síwájú láìsí i.',
    safety:
      'O wà lórí {host}. Rí i dájú pé ilé ìtajà ló fún ọ ní ìjápọ̀ yìí. Ẹnikẹ́ni kò nílò ọ̀rọ̀ ìgbàpadà rẹ, kọ́kọ́rọ́ àṣírí tàbí owó lọ́wọ́ rẹ láti dá owó rẹ padà.',
    test: 'Ipò ìdánwò: kì í ṣe owó gidi',
    wrongAddress: 'A kò lè lo àdírẹ́sì yìí fún {currency} lórí {network}. Ṣe àdàkọ tìrẹ láti inú wọ́lẹ́ẹ̀tì rẹ.',
    busy: 'Ìgbìyànjú ti pọ̀ jù. Dúró fún ìṣẹ́jú kan, kí o tún gbìyànjú.',
    offline: 'Iṣẹ́ náà kò dáhùn. Ohun tí o tẹ̀ kò sọnù: tún gbìyànjú.',
    retry: 'Tún gbìyànjú',
    contact: 'Kàn sí ilé ìtajà',
  },
  ig: {
    title: 'Nkwụghachi ego',
    loading: 'Na-ebu…',
    enterHeading: 'Ebee ka anyị ga-eziga ego gị?',
    enterHelp: 'Tinye adreesị gị nke na-anata {currency} na {network}.',
    exchangeHelp:
      'N’ebe mgbanwe ego, detuo adreesị nkwụnye gị maka {currency} na {network}. Ejila adreesị i ji kwụọ ụgwọ: n’ebe mgbanwe, ọ bụghị nke gị.',
    address: 'Adreesị gị',
    useWallet: 'Jiri adreesị {wallet}',
    browserWallet: 'obere akpa ihe nchọgharị gị',
    check: 'Gaa n’ihu',
    confirmHeading: 'Nke a ọ bụ adreesị gị?',
    confirmHelp: 'Jiri obere akpa gị tụnyere akụkụ ọ bụla. Ego ezigara n’adreesị na-ezighị ezi anaghị alọta.',
    confirm: 'Ee, ziga ya ebe a',
    back: 'Mba, gbanwee ya',
    change: 'Gbanwee adreesị',
    waitingHeading: 'Na-eche ụlọ ahịa',
    waitingHelp:
      '{shop} ga-akwado ya ugbu a. Ị nwere ike ịgbanwe adreesị ruo mgbe ahụ, mechiekwa peeji a: njikọ ahụ na-egosi ebe o ruru.',
    sendingHeading: 'A na-eziga ego gị',
    sendingHelp: 'O nweghị ihe ị ga-eme. Peeji a na-emelite onwe ya.',
    paidHeading: 'Ezigala ego ahụ',
    paidHelp: 'Ọ nọ na netwọk. Ebe mgbanwe nwere ike iwe nkeji ole na ole tupu o gosi ya.',
    failedHeading: 'Enweghị ike iziga nkwụghachi ahụ',
    failedHelp: 'O nweghị ihe pụrụla. Gwa {shop} ka ọ malite ya ọzọ.',
    goneHeading: 'Ahụghị nkwụghachi ahụ',
    goneHelp:
      'Njikọ ahụ ezughị ezu, ma ọ bụ ọ gwụla: ụlọ ahịa kagburu ya, mee njikọ ọhụrụ, ma ọ bụ ụbọchị 30 agafeela. Mepee njikọ ikpeazụ ị nwetara, ma ọ bụ jụọ ụlọ ahịa.',
    networkFee: 'Ụgwọ network',
    feeShop: 'Ụlọ ahịa na-akwụ ya',
    feeTaken: '{fee}, ewepụla ya',
    feeOpen: 'A ga-ewepụ ya mgbe a na-eziga ya, ya mere ihe rutere nwere ike ịdị obere',
    order: 'Ọda',
    reason: 'Ihe kpatara ya',
    network: 'Netwọk',
    transaction: 'Azụmahịa',
    until: 'Tinye ya tupu',
    sameWallet: 'Ụlọ ahịa hụrụ na ọ bụ obere akpa kwụrụ ụgwọ.',
    prove: 'Jiri {wallet} gosi na ọ bụ ya kwụrụ',
    notProven: 'Obere akpa ahụ egosighị ya. Ị nwere ike ịga n’ihu na-enweghị ya.',
    safety:
      'Ị nọ na {host}. Lelee na ọ bụ ụlọ ahịa nyere gị njikọ a. Ọ dịghị onye chọrọ okwu mgbake gị, igodo nzuzo ma ọ bụ ego n’aka gị iji kwụghachi gị.',
    test: 'Ọnọdụ ule: ọ bụghị ezigbo ego',
    wrongAddress: 'Enweghị ike iji adreesị a maka {currency} na {network}. Detuo nke gị n’obere akpa gị.',
    busy: 'Mgbalị karịrị. Chere otu nkeji, nwaa ọzọ.',
    offline: 'Ọrụ ahụ anaghị aza. Ihe i tinyere efughị: nwaa ọzọ.',
    retry: 'Nwaa ọzọ',
    contact: 'Kpọtụrụ ụlọ ahịa',
  },
  sw: {
    title: 'Kurejeshewa pesa',
    loading: 'Inapakia…',
    enterHeading: 'Tukutumie pesa zako wapi?',
    enterHelp: 'Weka anwani yako inayopokea {currency} kwenye {network}.',
    exchangeHelp:
      'Kwenye soko la kubadilisha, nakili anwani yako ya kuweka {currency} kwenye {network}. Usitumie anwani uliyolipa nayo: kwenye soko la kubadilisha si yako.',
    address: 'Anwani yako',
    useWallet: 'Tumia anwani ya {wallet}',
    browserWallet: 'pochi ya kivinjari chako',
    check: 'Endelea',
    confirmHeading: 'Je, hii ni anwani yako?',
    confirmHelp: 'Linganisha kila sehemu na pochi yako. Pesa zinazotumwa kwa anwani isiyo sahihi hazirudi.',
    confirm: 'Ndiyo, tuma hapa',
    back: 'Hapana, badilisha',
    change: 'Badilisha anwani',
    waitingHeading: 'Tunasubiri duka',
    waitingHelp:
      '{shop} inaidhinisha sasa. Unaweza kubadilisha anwani hadi hapo, na kufunga ukurasa huu: kiungo kinaonyesha ilipofika.',
    sendingHeading: 'Pesa zako zinatumwa',
    sendingHelp: 'Huna la kufanya. Ukurasa huu unajisasisha wenyewe.',
    paidHeading: 'Pesa zimetumwa',
    paidHelp: 'Ziko kwenye mtandao. Soko la kubadilisha linaweza kuchukua dakika chache kuzionyesha.',
    failedHeading: 'Pesa hazikuweza kutumwa',
    failedHelp: 'Hakuna kilichotoka bado. Omba {shop} ianze tena.',
    goneHeading: 'Urejeshaji haukupatikana',
    goneHelp:
      'Kiungo hakijakamilika, au kimeisha: duka lilighairi, lilitengeneza kiungo kipya, au siku 30 zimepita. Fungua kiungo cha mwisho ulichopata, au uliza duka.',
    networkFee: 'Ada ya mtandao',
    feeShop: 'Duka linailipa',
    feeTaken: '{fee}, imeshakatwa',
    feeOpen: 'Inakatwa wakati wa kutuma, hivyo kinachofika kinaweza kupungua kidogo',
    order: 'Oda',
    reason: 'Sababu',
    network: 'Mtandao',
    transaction: 'Muamala',
    until: 'Iweke kabla ya',
    sameWallet: 'Duka linaona kwamba hii ndiyo pochi iliyolipa.',
    prove: 'Thibitisha kwa {wallet} kwamba ndiyo iliyolipa',
    notProven: 'Pochi haikuthibitisha. Unaweza kuendelea bila hilo.',
    safety:
      'Uko kwenye {host}. Hakikisha duka ndilo lililokupa kiungo hiki. Hakuna anayehitaji maneno yako ya kurejesha, ufunguo wa siri wala malipo kutoka kwako ili kukurejeshea pesa.',
    test: 'Hali ya majaribio: si pesa halisi',
    wrongAddress:
      'Anwani hii haiwezi kutumika kwa {currency} kwenye {network}. Nakili anwani yako kutoka kwenye pochi yako.',
    busy: 'Umejaribu mara nyingi. Subiri dakika moja, kisha ujaribu tena.',
    offline: 'Huduma haijibu. Ulichoweka hakijapotea: jaribu tena.',
    retry: 'Jaribu tena',
    contact: 'Wasiliana na duka',
  },
  zh: {
    title: '退款',
    loading: '正在加载…',
    enterHeading: '退款要发到哪里？',
    enterHelp: '请输入您自己的、可在 {network} 上接收 {currency} 的地址。',
    exchangeHelp:
      '如使用交易所，请复制您在 {network} 上的 {currency} 充值地址。不要使用您付款时的转出地址：在交易所，它不属于您。',
    address: '您的地址',
    useWallet: '使用 {wallet} 的地址',
    browserWallet: '浏览器钱包',
    check: '继续',
    confirmHeading: '这是您的地址吗？',
    confirmHelp: '请逐段与您的钱包核对。发到错误地址的币无法追回。',
    confirm: '是，发到这里',
    back: '不是，修改',
    change: '修改地址',
    waitingHeading: '等待商家',
    waitingHelp: '接下来由 {shop} 批准。在此之前您可以修改地址，也可以关闭此页面：通过链接可随时查看进度。',
    sendingHeading: '退款正在发送',
    sendingHelp: '您无需操作。此页面会自动更新。',
    paidHeading: '退款已发送',
    paidHelp: '已在网络上。交易所可能需要几分钟才会显示。',
    failedHeading: '退款未能发送',
    failedHelp: '尚未转出任何款项。请联系 {shop} 重新发起。',
    goneHeading: '找不到该退款',
    goneHelp:
      '链接不完整或已失效：商家取消了退款、生成了更新的链接，或已过 30 天。请打开最近收到的链接，或询问商家。',
    networkFee: '网络费',
    feeShop: '由商家支付',
    feeTaken: '{fee}，已扣除',
    feeOpen: '发送时扣除，因此到账金额可能略少',
    order: '订单',
    reason: '原因',
    network: '网络',
    transaction: '交易',
    until: '请在此之前填写',
    sameWallet: '商家可以看到，这就是付款的钱包。',
    prove: '用 {wallet} 证明是它付的款',
    notProven: '钱包未能证明。您可以不证明，继续操作。',
    safety:
      '您正在访问 {host}。请确认此链接确实由商家提供。退款不需要您的助记词、私钥，也不需要您付任何款项。',
    test: '测试模式：不是真钱',
    wrongAddress: '此地址不能用于在 {network} 上接收 {currency}。请从钱包复制您自己的地址。',
    busy: '尝试次数过多。请等一分钟再试。',
    offline: '服务没有响应。您填写的内容没有丢失：请重试。',
    retry: '重试',
    contact: '联系商家',
  },
};
