// Colours code and scrolls both sides together. Pages are complete without it.
// Text of candidates reaches the highlighter's patterns here, in the reader's browser, and nowhere else.
const MAX_COLOURED_CHARACTERS = 100_000;

for (const wrapper of document.querySelectorAll('.d2h-wrapper')) {
  const diff = new Diff2HtmlUI(wrapper, undefined, {}, hljs);
  diff.synchronisedScroll();
  if (wrapper.textContent.length <= MAX_COLOURED_CHARACTERS) diff.highlightCode();
}
