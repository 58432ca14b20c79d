// Writes the results of a run: JSON, HTML, and lines of one table on stdout.
import { page } from './html.js';
import * as knobs from './knobs.js';
import { measured } from './measure.js';

const out = knobs.text('OUT', 'bin/load').replace(/\/+$/, '');

// Widths of the table's columns, whose head run.sh prints; negative: left-aligned.
const widths = [-26, -10, 11, 9, 9, 9, 7, -1];

function line(cells) {
  return widths.map((width, i) => (width < 0 ? String(cells[i]).padEnd(-width) : String(cells[i]).padStart(width))).join('  ').trimEnd();
}

const value = (data, metric, field) => {
  const found = data.metrics[metric];
  return found && found.values[field] !== undefined ? found.values[field] : 0;
};

function rows(data, seconds, weight) {
  return measured().map((name) => {
    const v = (data.metrics[`${name}_duration`] || { values: {} }).values;
    return {
      operation: name,
      count: v.count || 0,
      perSecond: seconds > 0 ? ((v.count || 0) * (weight[name] || 1)) / seconds : 0,
      p50: v.med || 0,
      p95: v['p(95)'] || 0,
      p99: v['p(99)'] || 0,
      max: v.max || 0,
    };
  });
}

// The value that a threshold was compared with, by k6's name in the summary.
function seen(metric, expression) {
  const name = expression.split(/[<>=!]/)[0].trim();
  return metric.values[name];
}

function judged(data) {
  const all = [];
  for (const [name, metric] of Object.entries(data.metrics)) {
    for (const [expression, result] of Object.entries(metric.thresholds || {})) {
      all.push({ metric: name, expression, ok: result.ok, value: seen(metric, expression) });
    }
  }
  return all.sort((a, b) => a.ok - b.ok || (a.metric < b.metric ? -1 : 1));
}

const short = (v) => (typeof v === 'number' ? String(Math.round(v * 1000) / 1000) : 'nothing');

function verdict(thresholds) {
  const failed = thresholds.filter((t) => !t.ok);
  if (failed.length === 0) {
    return `all ${thresholds.length} hold`;
  }
  return `${failed.length} of ${thresholds.length} FAIL: ${failed.map((t) => `${t.metric} ${t.expression} is ${short(t.value)}`).join('; ')}`;
}

function checks(group) {
  return [...group.checks.map(({ name, passes, fails }) => ({ name, passes, fails })), ...group.groups.flatMap(checks)];
}

/**
 * summary makes the handleSummary of a scenario. weight is the number of objects in one operation, where it is not one (a batch
 * of claims).
 */
export function summary(scenario, weight = {}) {
  const name = knobs.text('LABEL', scenario);
  return (data) => {
    const at = (data.metrics.measured_at || { values: { min: 0, max: 0 } }).values;
    const seconds = (at.max - at.min) / 1000;
    const report = {
      scenario,
      name,
      began: new Date(at.min || Date.now()).toISOString(),
      seconds,
      operations: rows(data, seconds, weight),
      errors: value(data, 'checks', 'fails'),
      dropped: value(data, 'dropped_iterations', 'count'),
      thresholds: judged(data),
      checks: checks(data.root_group),
      knobs: knobs.used,
    };
    report.held = report.thresholds.length > 0 && report.thresholds.every((t) => t.ok);
    const lines = report.operations.map((r, i) => line([
      i === 0 ? name : '', r.operation, r.perSecond.toFixed(r.perSecond < 10 ? 1 : 0), r.p50.toFixed(2), r.p95.toFixed(2), r.p99.toFixed(2),
      i === 0 ? report.errors : '', i === 0 ? verdict(report.thresholds) : '',
    ]));
    return {
      stdout: `${lines.join('\n')}\n`,
      [`${out}/${name}.json`]: `${JSON.stringify({ ...report, metrics: data.metrics }, null, 1)}\n`,
      [`${out}/${name}.html`]: page(report),
    };
  };
}
