/** `npm run bench`: runs one of the benchmarks. Each prints ratios of numbers that were measured in the same run. */
const benchmarks = [
  'payments',
  'life',
  'lists',
  'dust',
  'scan',
  'flood',
  'sweeps',
  'widget',
  'console',
  'blockade',
];
const [, , name = ''] = process.argv;

if (benchmarks.includes(name)) {
  await import(`./${name}.mjs`);
} else {
  console.log(`Usage: npm run bench -- NAME [options]        (after npm run build)

  payments   create, set, lock and verify payments, compared with floors on the same machine
  life       a whole payment up to its webhook: processor time among 0 to 1,000,000 payments, and waits at a rate
  lists      each list and filter with 1,000,000 payments, compared with 10,000
  dust       the scan that sees a payer's transfer, with a payment that has a flood of small ones
  scan       blocks of 300 transactions with 10 to 100,000 addresses, and catching up, compared with bare node calls
  flood      verifying a live payment while strangers flood the sandbox, or the API without a key
  sweeps     gas per address of sweeps of 1, 10 and 100 addresses, compared with funding and emptying each
  blockade   from the press of the pay button to the address, when a stranger has taken the order's references
  widget     from page load to the QR code on slow 3G, and the script's time at load compared with others
  console    from the address of a console's page to what it shows on slow 3G, with bytes and the main thread's time

For the options of a benchmark: npm run bench -- NAME --help`);
  process.exitCode = name === '' || name === '--help' ? 0 : 1;
}
