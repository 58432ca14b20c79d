// The report of one run as a self-contained page: no script, no font, no request.

const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
const figure = (n, digits = 2) => (typeof n === 'number' ? n.toFixed(digits) : '');

const style = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem }
body { color: #1c1f23; background: #fff }
h1 { font-size: 1.5rem; margin: 0 } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem }
table { border-collapse: collapse; width: 100% }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #dfe3e8; text-align: left; vertical-align: top }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums } .ok { color: #14632b } .no { color: #a3131f; font-weight: 600 }
.bar { height: .55rem; background: #2f6fb5; border-radius: 2px } .bar.b { background: #7aa6d6 } .bar.c { background: #c3d8ee }
@media (prefers-color-scheme: dark) {
  body { color: #e4e7eb; background: #15181c } th, td { border-color: #333a42 } .ok { color: #6cc788 } .no { color: #ff8087 }
}`;

function table(head, lines) {
  const cell = (tag, c) => {
    if (c.n !== undefined) {
      return `<${tag} class="n">${escaped(c.n)}</${tag}>`;
    }
    return `<${tag}>${c.html === undefined ? escaped(c) : c.html}</${tag}>`;
  };
  const row = (tag, cells) => `<tr>${cells.map((c) => cell(tag, c)).join('')}</tr>`;
  return `<table><thead>${row('th', head)}</thead><tbody>${lines.map((l) => row('td', l)).join('\n')}</tbody></table>`;
}

function bars(r, longest) {
  const bar = (v, kind) => `<div class="bar ${kind}" style="width:${longest > 0 ? Math.max(0.5, (100 * v) / longest).toFixed(1) : 0}%"></div>`;
  return { html: bar(r.p50, '') + bar(r.p95, 'b') + bar(r.p99, 'c') };
}

const mark = (ok) => ({ html: ok ? '<span class="ok">holds</span>' : '<span class="no">fails</span>' });

const right = (...titles) => titles.map((n) => ({ n }));
const rounded = (v) => (typeof v === 'number' ? Math.round(v * 1000) / 1000 : 'nothing');

function operations(report) {
  const longest = Math.max(0, ...report.operations.map((r) => r.p99));
  return table(
    ['operation', ...right('count', 'per second', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms'), 'p50, p95, p99'],
    report.operations.map((r) => [
      r.operation,
      ...right(r.count, figure(r.perSecond, 1), figure(r.p50), figure(r.p95), figure(r.p99), figure(r.max)),
      bars(r, longest),
    ]),
  );
}

/** page returns the report as HTML. */
export function page(report) {
  const verdict = report.held ? '<span class="ok">every promise holds</span>' : '<span class="no">a promise does not hold</span>';
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(report.name)}: load test</title>
<meta name="viewport" content="width=device-width"><style>${style}</style></head><body>
<h1>${escaped(report.name)} ${verdict}</h1>
<p>${escaped(report.began)}, ${figure(report.seconds, 1)} s measured, ${report.errors} errors, ${report.dropped} dropped iterations.</p>
<h2>Operations</h2>
${operations(report)}
<h2>Thresholds</h2>
${table(['metric', 'must be', ...right('was'), ''], report.thresholds.map((t) => [t.metric, t.expression, { n: rounded(t.value) }, mark(t.ok)]))}
<h2>Checks</h2>
${table(['check', ...right('passed', 'failed')], report.checks.map((c) => [c.name, ...right(c.passes, c.fails)]))}
<h2>Knobs</h2>
${table(['variable', 'value'], Object.entries(report.knobs).map(([k, v]) => [`LOAD_${k}`, v === undefined ? '' : v]))}
</body></html>
`;
}
