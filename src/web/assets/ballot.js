// Votes by single keys. Pages are complete without it: each key presses a button.
(() => {
  const hint = document.getElementById('ballot-keys');
  const box = hint?.querySelector('input');
  const STORED = 'runoff-ballot-keys';
  // Somebody who speaks to their computer, or leans on keys, turns them off.
  if (box) {
    box.checked = localStorage.getItem(STORED) !== 'off';
    box.addEventListener('change', () => localStorage.setItem(STORED, box.checked ? 'on' : 'off'));
    hint.hidden = false;
  }
  const isOn = () => (box ? box.checked : localStorage.getItem(STORED) !== 'off');

  // A key that arrives while a vote is sent was typed for a question that is gone.
  let isSent = false;
  document.addEventListener('submit', (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
  });
  addEventListener('pageshow', () => {
    isSent = false;
  });

  const ANSWERS = { 1: 'answer-a', 2: 'answer-b' };
  document.addEventListener('keydown', (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (!isOn() || isSent || event.target.closest?.('input:not([type=checkbox]), textarea, select')) return;
    const key = event.key === '=' ? 't' : event.key.toLowerCase();
    const heading = document.getElementById(ANSWERS[key] ?? '');
    const button = /^[abtsu]$/.test(key) ? document.querySelector(`button[data-key="${key}"]`) : null;
    if (!heading && !button) return;
    event.preventDefault();
    if (heading) heading.focus();
    else button.form.requestSubmit(button);
  });
})();
