/* global document, print */
// Shows times in the reader's own zone, and the button that prints. Without it, times are in UTC.
const format = new Intl.DateTimeFormat(document.documentElement.lang, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});
for (const time of document.querySelectorAll('time')) {
  time.title = time.textContent;
  time.textContent = format.format(new Date(time.dateTime));
  time.dir = 'auto';
}
const button = document.querySelector('.print');
button.hidden = false;
button.addEventListener('click', () => print());
