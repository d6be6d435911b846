import { escapeHtml, visibleCode } from '../reports/index.ts';
import type { FrontPoint } from './measures.ts';
import type { ArenaReport, FrontQuality } from './report.ts';

/** Text of others for HTML and SVG, also inside quoted attributes. Invisible characters are spelled out. */
export const htmlText = (text: string): string => escapeHtml(visibleCode(text));

const WIDTH = 720;
const HEIGHT = 430;
const PLOT = { left: 72, right: 696, top: 20, bottom: 340 } as const;
const MARK_RADIUS = 10;

const PICTURE_STYLE = [
  '.front{color:#1f2328;font:13px system-ui,sans-serif}',
  '.front .paper{fill:#fff}.front text{fill:currentColor}.front .axis,.front .bar{stroke:currentColor;fill:none}',
  '.front .axis{stroke-width:1}.front .bar{stroke-width:1.5;opacity:.45}.front .grid{stroke:currentColor;opacity:.15}',
  '.front .step{fill:none;stroke:#0b6bcb;stroke-width:2;stroke-dasharray:6 4}',
  '.front .best{fill:#0b6bcb}.front .rest{fill:#fff;stroke:currentColor;stroke-width:1.5}',
  '.front .best-number{fill:#fff;font-weight:600}.front .number{text-anchor:middle}',
  '@media (prefers-color-scheme:dark){.front{color:#e6edf3}.front .paper,.front .rest{fill:#0d1117}',
  '.front .step{stroke:#6cb6ff}.front .best{fill:#6cb6ff}.front .best-number{fill:#0d1117}}',
].join('');

/**
 * Quality against cost as an SVG of its own: readable without colours, in light and dark, and by screen readers.
 * Contestants on the Pareto front are circles, the others squares; numbers are those of the report. Empty without
 * points. Without style for pages that forbid it in their markup and load that of `front` from a file.
 */
export function frontPicture(
  { name, front }: Pick<ArenaReport, 'name' | 'front'>,
  how: 'with style' | 'without style' = 'with style',
): string {
  if (front.points.length === 0) return '';
  const x = costScale(front.points);
  const y = qualityScale(front.points, front.quality);
  const placed = placedPoints(front.points, x.at, y.at);
  const title = `Contest ${name}: ${front.quality} against cost`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="front" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="front-title front-desc">`,
    `<title id="front-title">${htmlText(title)}</title>`,
    `<desc id="front-desc">${htmlText(described(front.points, front.quality))}</desc>`,
    ...(how === 'with style' ? [`<style>${PICTURE_STYLE}</style>`] : []),
    `<rect class="paper" width="${WIDTH}" height="${HEIGHT}"/>`,
    ...axes(x, y, front.quality),
    staircase(front.points, x.at, y.at),
    ...placed.map((one) => errorBar(one, y.at)),
    ...placed.map(marker),
    ...legend(front.points),
    '</svg>',
  ].join('\n');
}

const qualityText = (quality: number, by: FrontQuality): string =>
  by === 'pass rate' ? `${Math.round(100 * quality)}%` : `Elo ${quality.toFixed(0)}`;
const costText = (usd: number): string =>
  `$${usd === 0 ? '0' : usd >= 0.01 ? usd.toFixed(2) : String(Number(usd.toPrecision(2)))}`;

const described = (points: readonly FrontPoint[], by: FrontQuality): string =>
  points
    .map(
      ({ number, id, usd, quality, onFront }) =>
        `${number} ${id}: ${qualityText(quality, by)} at ${costText(usd)} for one answer${onFront ? ', on the Pareto front' : ''}.`,
    )
    .join(' ');

interface Scale {
  at(value: number): number;
  readonly ticks: readonly number[];
}

/** Smaller ranges cannot be divided: the prices of models are above a millionth of a cent. */
const LEAST_RANGE = 1e-8;

/** Steps of 1, 2 or 5 times a power of ten that cover the range, about five of them. */
function linearScale(low: number, high: number, from: number, to: number): Scale {
  const rough = Math.max(high - low, LEAST_RANGE) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(high / step - 1e-9));
  const ticks = Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
  const [bottom, top] = [first * step, last * step];
  return { ticks, at: (value) => from + ((value - bottom) / (top - bottom)) * (to - from) };
}

/** Above this ratio of costs, the cheap ones would lie on one another: then the scale is logarithmic. */
const LINEAR_RATIO = 20;

function costScale(points: readonly FrontPoint[]): Scale {
  const costs = points.map(({ usd }) => usd);
  const [low, high] = [Math.min(...costs), Math.max(...costs)];
  if (low < LEAST_RANGE || high / low <= LINEAR_RATIO) return linearScale(0, high, PLOT.left, PLOT.right);
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  return {
    ticks: Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i)),
    at: (usd) =>
      PLOT.left + ((Math.log10(usd) - first) / Math.max(1, last - first)) * (PLOT.right - PLOT.left),
  };
}

function qualityScale(points: readonly FrontPoint[], by: FrontQuality): Scale {
  if (by === 'pass rate') return linearScale(0, 1, PLOT.bottom, PLOT.top);
  const ends = points.flatMap(({ quality, interval }) => [
    quality,
    interval?.low ?? quality,
    interval?.high ?? quality,
  ]);
  return linearScale(Math.min(...ends), Math.max(...ends), PLOT.bottom, PLOT.top);
}

function axes(x: Scale, y: Scale, by: FrontQuality): readonly string[] {
  const middle = (PLOT.top + PLOT.bottom) / 2;
  return [
    ...y.ticks.map((tick) => {
      const at = px(y.at(tick));
      return `<path class="grid" d="M${PLOT.left} ${at}H${PLOT.right}"/><text x="${PLOT.left - 8}" y="${at}" text-anchor="end" dominant-baseline="middle">${by === 'pass rate' ? `${Math.round(100 * tick)}%` : tick}</text>`;
    }),
    ...x.ticks.map((tick) => {
      const at = px(x.at(tick));
      return `<path class="axis" d="M${at} ${PLOT.bottom}v5"/><text x="${at}" y="${PLOT.bottom + 20}" text-anchor="middle">${costText(tick)}</text>`;
    }),
    `<path class="axis" d="M${PLOT.left} ${PLOT.top}V${PLOT.bottom}H${PLOT.right}"/>`,
    `<text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 42}" text-anchor="middle">dollars for one answer, average</text>`,
    `<text transform="translate(18 ${middle}) rotate(-90)" text-anchor="middle">${by}</text>`,
  ];
}

/** Whole pixels are too coarse for small pictures; more digits change nothing that is seen. */
const px = (value: number): number => Math.round(value * 10) / 10;

function staircase(points: readonly FrontPoint[], x: Scale['at'], y: Scale['at']): string {
  const steps = points.filter(({ onFront }) => onFront);
  const path = steps.map(({ usd, quality }, i) =>
    i === 0 ? `M${px(x(usd))} ${px(y(quality))}` : `H${px(x(usd))}V${px(y(quality))}`,
  );
  return steps.length < 2 ? '' : `<path class="step" d="${path.join('')}"/>`;
}

interface PlacedPoint {
  readonly point: FrontPoint;
  /** Where the point is, and where its mark is drawn. */
  readonly x: number;
  readonly y: number;
  readonly markX: number;
}

/** Marks that would cover each other are moved to the right. */
function placedPoints(points: readonly FrontPoint[], x: Scale['at'], y: Scale['at']): readonly PlacedPoint[] {
  const placed: PlacedPoint[] = [];
  for (const point of points) {
    const at = { x: px(x(point.usd)), y: px(y(point.quality)) };
    let markX = at.x;
    const covers = (other: PlacedPoint) =>
      Math.abs(other.markX - markX) < 2 * MARK_RADIUS && Math.abs(other.y - at.y) < 2 * MARK_RADIUS;
    while (placed.some(covers)) markX += 2 * MARK_RADIUS + 2;
    placed.push({ point, ...at, markX: px(markX) });
  }
  return placed;
}

function errorBar({ point: { interval }, x, y, markX }: PlacedPoint, scale: Scale['at']): string {
  const away = markX === x ? '' : `<path class="bar" d="M${x} ${y}H${markX}"/>`;
  if (interval === null) return away;
  return `${away}<path class="bar" d="M${markX} ${px(scale(interval.low))}V${px(scale(interval.high))}"/>`;
}

function marker({ point: { number, onFront }, markX, y }: PlacedPoint): string {
  const shape = onFront
    ? `<circle class="best" cx="${markX}" cy="${y}" r="${MARK_RADIUS}"/>`
    : `<rect class="rest" x="${px(markX - MARK_RADIUS)}" y="${px(y - MARK_RADIUS)}" width="${2 * MARK_RADIUS}" height="${2 * MARK_RADIUS}"/>`;
  return `${shape}<text class="number${onFront ? ' best-number' : ''}" x="${markX}" y="${y}" dominant-baseline="central">${number}</text>`;
}

function legend(points: readonly FrontPoint[]): readonly string[] {
  const y = HEIGHT - 16;
  const rest = points.some(({ onFront }) => !onFront);
  return [
    `<circle class="best" cx="${PLOT.left + 6}" cy="${y - 4}" r="6"/><text x="${PLOT.left + 18}" y="${y}">on the Pareto front</text>`,
    ...(rest
      ? [
          `<rect class="rest" x="${PLOT.left + 160}" y="${y - 10}" width="12" height="12"/><text x="${PLOT.left + 180}" y="${y}">another one is as good and no more expensive</text>`,
        ]
      : []),
  ];
}
