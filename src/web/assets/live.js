// Keeps a page up to date while it is open. Every page works without it: what it shows comes from the same addresses.
(() => {
  /** Milliseconds. */
  const HIDDEN_MS = 5_000;
  const RETRY_MS = 30_000;
  const TIMES_MS = 20_000;
  /** Between two loads of the same page. */
  const LOAD_MS = 3_000;

  // --- Times as people say them -----------------------------------------------------------------------------------
  const UNITS = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
    ['second', 1],
  ];
  const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  function showTimes(root) {
    for (const element of root.querySelectorAll('time[datetime]')) {
      const at = Date.parse(element.dateTime);
      if (Number.isNaN(at)) continue;
      if (!element.title) element.title = new Date(at).toLocaleString();
      const seconds = Math.round((at - Date.now()) / 1000);
      const [unit, size] = UNITS.find(([, own]) => Math.abs(seconds) >= own) ?? UNITS[3];
      const text = words.format(Math.trunc(seconds / size), unit);
      if (element.textContent !== text) element.textContent = text;
    }
  }

  // --- Parts of the page, as the server renders them ---------------------------------------------------------------
  const parsed = (markup) => new DOMParser().parseFromString(markup, 'text/html');
  /** What the server sent last for a part: the page itself changes it (times, open details). */
  const sent = new Map();
  const liveParts = () => document.querySelectorAll('[data-live][id]');

  // Each of these remembers a state of a part, and gives it to the part that takes its place.
  function openDetails(part) {
    const opened = [...part.querySelectorAll('details')].map(({ open }) => open);
    return (next) => {
      for (const [at, details] of next.querySelectorAll('details').entries())
        if (opened[at]) details.open = true;
    };
  }
  function scrollOf(part) {
    const all = (root) => [root, ...root.querySelectorAll('*')];
    const scrolled = all(part).map(({ scrollLeft, scrollTop }) => [scrollLeft, scrollTop]);
    return (next) => {
      for (const [at, element] of all(next).entries()) {
        const [left, top] = scrolled[at] ?? [0, 0];
        if (left || top) element.scrollTo(left, top);
      }
    };
  }
  function focusIn(part) {
    const all = (root) => [...root.querySelectorAll('a[href], button, summary, [tabindex]')];
    const at = part.contains(document.activeElement) ? all(part).indexOf(document.activeElement) : -1;
    return (next) => {
      if (at >= 0) all(next)[at]?.focus({ preventScroll: true });
    };
  }

  /** Whether somebody has entered or chosen something in a field. */
  function isFilled(field) {
    if (field.matches('select')) {
      const first = [...field.options].findIndex(({ defaultSelected }) => defaultSelected);
      return field.selectedIndex !== Math.max(first, 0);
    }
    return field.value !== field.defaultValue || Boolean(field.checked) !== Boolean(field.defaultChecked);
  }

  function replacePart(part, fresh) {
    const before = sent.get(part.id);
    if (before === fresh.outerHTML) return;
    // Somebody is writing there, or has not sent what they entered; the next load tries again.
    const fields = [...part.querySelectorAll('input, textarea, select')];
    if (fields.some((field) => field === document.activeElement || isFilled(field))) return;
    const restore = [openDetails(part), scrollOf(part), focusIn(part)];
    sent.set(part.id, fresh.outerHTML);
    const next = document.importNode(fresh, true);
    part.replaceWith(next);
    for (const again of restore) again(next);
    showTimes(next);
  }

  let loading = null;
  let loadedAt = 0;
  async function load() {
    loadedAt = performance.now();
    const response = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (!response.ok) return;
    const fresh = parsed(await response.text());
    for (const part of liveParts()) {
      const next = fresh.getElementById(part.id);
      if (next?.hasAttribute('data-live')) replacePart(part, next);
    }
  }
  /** Loads soon, at a random moment: many people may look at the same page. */
  function loadSoon(spread) {
    if (loading !== null || liveParts().length === 0) return;
    const wait = Math.max(0, loadedAt + LOAD_MS - performance.now()) + Math.random() * spread;
    loading = setTimeout(() => {
      load()
        .catch(() => undefined)
        .finally(() => {
          loading = null;
        });
    }, wait);
  }

  // --- Events --------------------------------------------------------------------------------------------------------
  const list = document.getElementById('steps');
  const runOf = /^\/runs\/([^/]+)/.exec(location.pathname);
  let source = null;
  let structure = null;
  let position = null;
  let isOver = false;

  function address() {
    const steps = list?.dataset.steps;
    const found = steps ?? (runOf ? `/runs/${runOf[1]}/events` : '/events');
    if (position === null) return found;
    const [, step, call] = position.split('.');
    const own = new URL(found, location.href);
    own.searchParams.set('after', step);
    own.searchParams.set('call', call);
    return own.href;
  }

  function setStatus(text) {
    const status = document.querySelector('[data-live-status]');
    if (status && status.textContent !== text) status.textContent = text;
  }

  function onRun(event) {
    const { structure: next, texts, spread } = JSON.parse(event.data);
    for (const element of document.querySelectorAll('[data-live-text]')) {
      const text = texts[element.dataset.liveText];
      if (text !== undefined && element.textContent !== text) element.textContent = text;
    }
    if (structure !== null && structure !== next) loadSoon(spread);
    structure = next;
  }

  function onSteps(event) {
    if (!list) return;
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 60;
    for (const item of [...parsed(`<ol>${JSON.parse(event.data).html}</ol>`).querySelectorAll('li[id]')]) {
      const known = document.getElementById(item.id);
      const next = document.importNode(item, true);
      if (known) known.replaceWith(next);
      else list.append(next);
      showTimes(next);
    }
    document.getElementById('no-steps')?.remove();
    if (atEnd && list.children.length > 5) scrollTo({ top: document.documentElement.scrollHeight });
  }

  function close() {
    source?.close();
    source = null;
  }

  function open() {
    if (source !== null || isOver) return;
    source = new EventSource(address());
    const on = (name, work) =>
      source.addEventListener(name, (event) => {
        if (event.lastEventId) position = event.lastEventId;
        work(event);
      });
    source.addEventListener('open', () => setStatus('This page is live.'));
    on('run', onRun);
    on('steps', onSteps);
    on('changed', (event) => loadSoon(JSON.parse(event.data).spread));
    on('end', () => {
      isOver = true;
      close();
      setStatus('The run is over.');
      loadSoon(0);
    });
    source.addEventListener('error', () => {
      if (source?.readyState !== EventSource.CLOSED) return;
      close();
      setStatus('This page is not live at the moment.');
      setTimeout(() => document.hidden || open(), RETRY_MS);
    });
  }

  showTimes(document);
  setInterval(() => showTimes(document), TIMES_MS);
  for (const part of liveParts()) sent.set(part.id, part.outerHTML);
  if (liveParts().length === 0 && !document.querySelector('[data-live-text]') && !list?.dataset.steps) return;
  open();
  // A browser opens few streams to one server, and nobody looks at a hidden page.
  let hiding;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(close, HIDDEN_MS);
    else {
      if (source === null) loadSoon(0);
      open();
    }
  });
})();
