/** The environment variables of the module. */
import * as z from 'zod/mini';

/** `Shop <shop@example.com>`, or only the address. */
export const senderPattern = /^(?:[^<>@\r\n]{1,100} )?<?([^\s<>@,;:"]{1,64}@[^\s<>@,;:"]{1,190})>?$/;

const isSmtpUrl = (text: string) => /^smtps?:\/\/[^/]/.test(text) && URL.canParse(text);

export const mailSettings = {
  SMTP_URL: {
    help: 'The server that sends e-mail to payers and to the shop’s people (default: none is sent). Over smtp://, the connection must be encrypted before the password is sent, unless the server is on this machine',
    allowed:
      'smtp://USER:PASSWORD@HOST:PORT or smtps://USER:PASSWORD@HOST:PORT, with each part percent-encoded',
    isSecret: true,
    schema: z.optional(z.string().check(z.maxLength(500), z.refine(isSmtpUrl))),
  },
  MAIL_FROM: {
    help: 'The address that e-mail is sent from. Needed with SMTP_URL. Each message has the name of its shop',
    allowed: 'an e-mail address',
    schema: z.optional(z.string().check(z.maxLength(300), z.regex(senderPattern))),
  },
  MAIL_DKIM_KEY_FILE: {
    help: 'File with the private key, in PEM, that signs e-mail (DKIM), if the mail server does not',
    allowed: 'a path',
    schema: z.optional(z.string()),
  },
  MAIL_DKIM_SELECTOR: {
    help: 'The selector of that key: its public part is in the DNS at SELECTOR._domainkey of the domain of MAIL_FROM',
    allowed: 'letters, digits, - and .',
    schema: z.optional(z.string().check(z.regex(/^[A-Za-z0-9.-]{1,60}$/))),
  },
} as const;
