/** Errors in the log: everything that helps, with secrets and personal data masked. */
import { describe, expect, it } from 'vitest';
import { createLog } from '../src/core/log.js';

describe('An error is logged', () => {
  function logged(error: unknown): Record<string, unknown> {
    const lines: string[] = [];
    createLog('info', { write: (line) => void lines.push(line) }).error({ err: error }, 'Failed');
    return (JSON.parse(lines[0] ?? '') as { err: Record<string, unknown> }).err;
  }

  it('An error is logged with its type, message, code, stack and causes, but without its parameters', () => {
    const cause = Object.assign(
      new Error('duplicate key value violates unique constraint "customers_email"'),
      {
        code: '23505',
        constraint: 'customers_email',
        detail: 'Key (email)=(ada@example.com) already exists.',
        parameters: ['ada@example.com'],
      },
    );
    const error = logged(new TypeError('Not kept', { cause }));
    expect(error).toEqual({
      type: 'TypeError',
      message: 'Not kept',
      stack: expect.arrayContaining([expect.stringMatching(/^\s+at /)]) as unknown,
      cause: {
        type: 'Error',
        message: 'duplicate key value violates unique constraint "customers_email"',
        code: '23505',
        constraint: 'customers_email',
        stack: expect.any(Array) as unknown,
      },
    });
  });

  it('An error is logged without the value that could not be parsed', () => {
    const unreadable = Object.assign(new Error('invalid input syntax for type bigint: "Ada"'), {
      code: '22P02',
    });
    expect(JSON.stringify(logged(unreadable))).not.toContain('Ada');
    let json: unknown;
    try {
      JSON.parse('Ada Example');
    } catch (error) {
      json = error;
    }
    expect(JSON.stringify(logged(json))).not.toContain('Ada');
  });

  it.each([
    ['connect to postgres://ada:hunter2@db/shop failed', 'connect to postgres://[redacted]@db/shop failed'],
    ['GET https://shop.example/in?token=t0ken: 500', 'GET https://shop.example/in?[redacted] 500'],
    ['No such key: sk_live_abc-DEF_123', 'No such key: sk_live_[redacted]'],
    ['Sign with whsec_abc+/=', 'Sign with whsec_[redacted]'],
    ['Authorization: Bearer abc.def', 'Authorization: Bearer [redacted]'],
    ['Mail to <ada@example.com>', 'Mail to <[email]>'],
  ])('An error is logged with its message masked: %s', (message, expected) => {
    expect(logged(new Error(message))['message']).toBe(expected);
  });

  it('An error is logged even if it is circular, no Error, or an AggregateError', () => {
    const circle = new Error('A circle');
    circle.cause = circle;
    expect(logged(circle)['message']).toBe('A circle');
    expect(logged({ email: 'ada@example.com' })).toEqual({ type: 'object' });
    const many = new AggregateError([new Error('one'), new Error('two')], 'Several');
    expect(logged(many)['errors']).toMatchObject([{ message: 'one' }, { message: 'two' }]);
  });
});

it('Secret fields are redacted', () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  log.info(
    { customer: { email: 'a' }, payment: { customerDetails: { fullName: 'Ada' } }, key: 'k' },
    'Message',
  );
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    customer: '[redacted]',
    payment: { customerDetails: '[redacted]' },
    key: '[redacted]',
  });
});

describe('Text for a person', () => {
  const written = (write: (log: ReturnType<typeof createLog>) => void) => {
    const lines: string[] = [];
    write(createLog('info', { write: (line) => void lines.push(line) }, 'text'));
    return lines.join('');
  };

  it('Text for a person has the time, the message and the fields in one line', () => {
    const text = written((log) => log.info({ url: 'http://127.0.0.1:8080', isLimited: true }, 'Started'));
    expect(text).toMatch(/^\d\d:\d\d:\d\d Started url=http:\/\/127\.0\.0\.1:8080 isLimited=true\n$/);
  });

  it('Text for a person names a level other than info, and shows an error with its stack', () => {
    const text = written((log) => log.warn({ err: new Error('Refused'), attempt: 2 }, 'A node failed'));
    expect(text).toMatch(/^\d\d:\d\d:\d\d WARN A node failed attempt=2\n {2}Refused\n +at /);
  });

  it('Text for a person hides what JSON hides, and accepts an err that is no Error', () => {
    const text = written((log) => {
      log.info({ key: 'k', note: 'sk_live_abcdef two words' }, 'Called by ada@example.com');
      log.error({ err: 'a text' }, 'Failed');
    });
    expect(text).toContain('Called by [email] key=[redacted] note="sk_live_[redacted] two words"');
    expect(text).toContain('ERROR Failed');
  });
});
