/* What the explorer knows: the stored theory, interpolated as `attention_book.explorer` does it.
   Numbers come from explorer-data.js alone; nothing here draws. */
"use strict";
window.explorerTheory = (({sigma, lam, tasks}) => {
  const CUBIC = 4, LINEAR = 2;  // nodes that a polynomial goes through: values, and their errors
  const rho = sigma ** 2;

  /** The polynomial through the nodes around a point; `value` of a node by its number. */
  function polynomial(nodes, value, at, count = CUBIC) {
    const above = nodes.findIndex(node => node > at), size = Math.min(count, nodes.length);
    const first = Math.max(0, Math.min((above < 0 ? nodes.length : above) - count / 2, nodes.length - size));
    let sum = 0;
    for (let i = first; i < first + size; i++) {
      let weight = 1;
      for (let j = first; j < first + size; j++) if (j !== i) weight *= (at - nodes[j]) / (nodes[i] - nodes[j]);
      sum += weight * value(i);
    }
    return sum;
  }

  const inside = (nodes, at) => at >= nodes[0] - 1e-6 && at <= nodes.at(-1) + 1e-6;

  /** A threshold or the baseline at an omega: {value, error}, or null where the table has none. */
  function along({omega, value, error}, at, count = CUBIC) {
    if (!inside(omega, at)) return null;
    return {value: polynomial(omega, i => value[i], at, count), error: polynomial(omega, i => error[i], at, LINEAR)};
  }

  const lastAlpha = ({branches}) => Math.max(...branches.semantic.lines.map(line => line.alpha.at(-1)));

  /** Between which alpha a branch is a minimum; null where it is none. `ended`: `to` is no border of the table. */
  function range(task, name, omega) {
    const [from, end] = [task.begins, task.ends].map(ends => ends[name] && along(ends[name], omega, LINEAR));
    if (!from || !inside(task.branches[name].omega, omega)) return null;
    return {from: from.value, to: end?.value ?? lastAlpha(task), ended: Boolean(end)};
  }

  /** The last omega with a branch, and the next one computed, which has none. */
  function lastOmegas(task, name) {
    const last = task.branches[name].omega.at(-1);
    return [last, task.baseline.omega.find(omega => omega > last + 1e-6)];
  }

  /** A value, or an error: at the same relative place between the ends of the nearest omegas, then along omega. */
  function interpolate({omega: omegas, lines}, omega, alpha, part, name) {
    const count = part === "values" ? CUBIC : LINEAR;
    const [start, stop] = [0, -1].map(end => polynomial(omegas, k => lines[k].alpha.at(end), omega));
    const share = (alpha - start) / (stop - start);
    return polynomial(omegas, k => {
      const {alpha: nodes, [part]: {[name]: column}} = lines[k];
      return polynomial(nodes, i => column[i], nodes[0] + share * (nodes.at(-1) - nodes[0]), count);
    }, omega, count);
  }

  /** Semantic minus positional training loss, also a little outside of both minima. */
  function gap({branches}, omega, alpha) {
    const [a, b] = [branches.semantic, branches.positional];
    return interpolate(a, omega, alpha, "values", "train_loss") - interpolate(b, omega, alpha, "values", "train_loss");
  }

  /** The minimum of one branch, null where there is none. Overlaps are over sigma^2. The training loss is the ridge
      penalty and alpha times the misfit of a sentence. */
  function minimum(task, name, omega, alpha) {
    const within = range(task, name, omega), branch = task.branches[name];
    if (!within || alpha < within.from || alpha > within.to) return null;
    const [train_loss, test_mse, q, own2] = ["train_loss", "test_mse", "q", "own2"].map(quantity => ({
      value: interpolate(branch, omega, alpha, "values", quantity),
      error: Math.abs(interpolate(branch, omega, alpha, "errors", quantity)),
    }));
    const root = square => Math.sqrt(Math.max(square, 0)) / rho, none = {value: 0, error: 0};
    const low = root(own2.value - own2.error), high = root(own2.value + own2.error);
    const overlap = {value: root(own2.value), error: (high - low) / 2, low, high};
    const ridge = lam * q.value / (2 * rho);
    return {
      train_loss, test_mse, ridge, misfit: (train_loss.value - ridge) / alpha,
      theta: name === "semantic" ? overlap : none, m: name === "positional" ? overlap : none,
    };
  }

  /** Of two independent numbers with their errors. */
  const minus = (a, b) => ({value: a.value - b.value, error: Math.hypot(a.error, b.error)});

  /** alpha_l at an omega: where the two test errors shown cross, which are smoother along omega than their crossing is;
      as stored where the table ends before it. */
  function linear(task, omega) {
    const stored = along(task.linear, omega), baseline = along(task.baseline, omega);
    const lag = alpha => {
      const semantic = minimum(task, "semantic", omega, alpha);
      return semantic ? minus(semantic.test_mse, baseline) : {};
    };
    if (!stored) return null;
    const reach = Math.max(3 * stored.error, 0.02);
    let [low, high] = [stored.value - reach, Math.min(stored.value + reach, lastAlpha(task))];
    const slope = (lag(high).value - lag(low).value) / (high - low);
    if (!(lag(low).value > 0 && lag(high).value < 0)) return stored;
    while (high - low > 1e-7) {
      const middle = (low + high) / 2;
      lag(middle).value > 0 ? low = middle : high = middle;
    }
    return {value: low, error: lag(low).error / Math.abs(slope)};
  }

  /** Everything at one point of the map. */
  function at(task, omega, alpha) {
    const [semantic, positional] = ["semantic", "positional"].map(name => minimum(task, name, omega, alpha));
    const [baseline, critical] = ["baseline", "critical"].map(what => along(task[what], omega));
    const difference = semantic && positional && minus(semantic.train_loss, positional.train_loss);
    const winner = semantic && !(difference?.value >= 0) ? "semantic" : positional ? "positional" : null;
    return {semantic, positional, difference, winner, baseline, critical, linear: linear(task, omega)};
  }

  return {tasks, along, range, lastOmegas, gap, minus, linear, at};
})(window.explorerData);
