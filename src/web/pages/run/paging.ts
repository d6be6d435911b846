import { html, raw } from 'hono/html';
import type { Html } from '../../layout.ts';

/** Links to the first, previous, next and last page; nothing for a single page. */
export function pageLinks(
  { page, pages }: { readonly page: number; readonly pages: number },
  address: (page: number) => string,
  label = 'Pages',
): Html | '' {
  if (pages <= 1) return '';
  const link = (to: number, text: string, rel = '') =>
    to < 1 || to > pages || to === page
      ? html`<span class="muted">${text}</span>`
      : html`<a href="${address(to)}"${rel === '' ? '' : raw(` rel="${rel}"`)}>${text}</a>`;
  return html`<nav class="paging" aria-label="${label}">${link(1, 'First')} ${link(page - 1, 'Previous', 'prev')} <span>${page} of ${pages}</span> ${link(page + 1, 'Next', 'next')} ${link(pages, 'Last')}</nav>`;
}

/** A positive whole number of an address; 1 for anything else. */
export function pageNumber(text: string | undefined): number {
  const number = Number(text);
  return Number.isSafeInteger(number) && number > 0 ? number : 1;
}
