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

  /** Elements by what they are for, and by their number among those for the same. */
  function byPurpose(elements) {
    const counts = new Map();
    const found = new Map();
    for (const element of elements) {
      const { form, name, tagName, textContent, value } = element;
      const what =
        element.getAttribute('href') ?? element.getAttribute('aria-label') ?? (value || textContent);
      const purpose = [tagName, form?.getAttribute('action'), name, what].join('\n');
      const count = counts.get(purpose) ?? 0;
      counts.set(purpose, count + 1);
      found.set(`${purpose}\n${count}`, element);
    }
    return found;
  }

  // Each of these remembers a state of a part, and gives it to the part that takes its place. What is open or focused
  // stays so only for the same purpose: in the place of a button there may be one that does something else.
  function openDetails(part) {
    const all = (root) => byPurpose(root.querySelectorAll('details > summary'));
    const opened = [...all(part)].filter(([, summary]) => summary.parentElement.open);
    return (next) => {
      const there = all(next);
      for (const [purpose] of opened) {
        const details = there.get(purpose)?.parentElement;
        if (details) details.open = true;
      }
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
    const all = (root) => byPurpose(root.querySelectorAll('a[href], button, summary, [tabindex]'));
    const focused = [...all(part)].find(([, element]) => element === document.activeElement);
    return (next) => {
      if (focused) all(next).get(focused[0])?.focus({ preventScroll: true });
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

  let waiting = null;
  let isLoading = false;
  /** Milliseconds over which the next load is spread, if there must be one after the present one. */
  let again = null;
  let loadedAt = 0;
  async function load() {
    loadedAt = performance.now();
    const response = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (response.status >= 500 || response.status === 429) throw new Error('Not at the moment.');
    if (!response.ok) return;
    const fresh = parsed(await response.text());
    for (const part of liveParts()) {
      const next = fresh.getElementById(part.id);
      if (next?.hasAttribute('data-live')) replacePart(part, next);
    }
  }
  async function loadNow() {
    waiting = null;
    isLoading = true;
    again = null;
    await load().catch(() => {
      again ??= RETRY_MS;
    });
    isLoading = false;
    if (again !== null) loadSoon(again);
  }
  /** Loads soon, at a random moment: many people may look at the same page. */
  function loadSoon(spread) {
    // The page that is on its way may lack the change.
    if (isLoading) again = spread;
    if (isLoading || waiting !== null || liveParts().length === 0) return;
    const wait = Math.max(0, loadedAt + LOAD_MS - performance.now()) + Math.random() * spread;
    waiting = setTimeout(loadNow, wait);
  }

  // --- Events --------------------------------------------------------------------------------------------------------
  const list = document.getElementById('steps');
  const runOf = /^\/runs\/([^/]+)/.exec(location.pathname);
  let source = null;
  /** Of the run as the page shows it, until the first event says what it is now. */
  let structure = document.querySelector('[data-live-structure]')?.dataset.liveStructure ?? null;
  let position = null;
  let isOver = false;
  let wasOpen = false;

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
    source.addEventListener('open', () => {
      setStatus('This page is live.');
      // Of lists, nobody says what has changed while the connection was broken.
      if (wasOpen && !runOf) loadSoon(LOAD_MS);
      wasOpen = true;
    });
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
