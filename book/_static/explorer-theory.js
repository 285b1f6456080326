/* What the explorer knows: the stored theory, interpolated as `attention_book.explorer.nodes` does it,
   and the attention matrices of a sentence. Numbers come from explorer-data.js alone; nothing here draws. */
"use strict";
window.explorerTheory = (data => {
  const CUBIC = 4, LINEAR = 2;  // nodes that a polynomial goes through: values, and their errors
  const COLUMNS = ["alpha", ...data.quantities, ...data.quantities.map(name => `${name}_error`)];
  const SIGNS = [1, -1];  // of the encoding, token by token

  const decode = text => new Float32Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
  const table = packed => Object.fromEntries(Object.entries(packed).map(([name, text]) => [name, decode(text)]));
  const noise = decode(data.noise), weights = decode(data.weights), rho = data.sigma ** 2;

  /* A branch: for each omega its nodes, a row each. */
  function unpackBranch({omega, count, rows}) {
    const numbers = decode(rows), width = COLUMNS.length;
    let row = 0;
    const lines = count.map(n => ({
      n, alpha: Float32Array.from({length: n}, (_, i) => numbers[(row + i) * width]),
      from: (row += n) - n, last: numbers[(row - 1) * width],
    }));
    return {omega: decode(omega), lines, value: (line, i, column) => numbers[(line.from + i) * width + column]};
  }

  const tasks = Object.fromEntries(Object.entries(data.tasks).map(([name, task]) => [name, {
    ...task, name,
    branches: Object.fromEntries(Object.entries(task.branches).map(([branch, packed]) => [branch, unpackBranch(packed)])),
    ...Object.fromEntries(["baseline", "critical", "linear"].map(what => [what, table(task[what])])),
    begins: Object.fromEntries(Object.entries(task.begins).map(([branch, packed]) => [branch, table(packed)])),
    ends: Object.fromEntries(Object.entries(task.ends).map(([branch, packed]) => [branch, table(packed)])),
  }]));

  /* The polynomial through the nodes around a point; value(i) is the value at node i. */
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

  const inside = (nodes, at) => nodes.length > 0 && at >= nodes[0] - 1e-6 && at <= nodes[nodes.length - 1] + 1e-6;

  /* A threshold or the baseline at an omega: {value, error}, or null where the table has none. */
  function along(curve, omega, count = CUBIC) {
    if (!inside(curve.omega, omega)) return null;
    return {value: polynomial(curve.omega, i => curve.value[i], omega, count),
            error: polynomial(curve.omega, i => curve.error[i], omega, LINEAR)};
  }

  /* Between which alpha a branch is a minimum, {from, to}; null where it is none. `ended`: to is no border of the table. */
  function range(task, branch, omega) {
    const from = along(task.begins[branch], omega, LINEAR);
    if (!from || !inside(task.branches[branch].omega, omega)) return null;
    const end = task.ends[branch] && along(task.ends[branch], omega, LINEAR);
    return {from: from.value, to: end ? end.value : lastAlpha(task), ended: Boolean(end)};
  }

  const lastOmega = (task, branch) => task.branches[branch].omega.at(-1);

  const lastAlpha = task => Math.max(...task.branches.semantic.lines.map(line => line.last));

  /* One column of a branch: at the same relative place between the ends of the nearest omegas, then along omega. */
  function interpolate({omega: omegas, lines, value}, omega, alpha, column, count) {
    const start = polynomial(omegas, k => lines[k].alpha[0], omega), stop = polynomial(omegas, k => lines[k].last, omega);
    const share = (alpha - start) / (stop - start);
    return polynomial(omegas, k => {
      const line = lines[k], place = line.alpha[0] + share * (line.last - line.alpha[0]);
      return polynomial(line.alpha, i => value(line, i, column), place, count);
    }, omega, count);
  }

  const quantity = (branch, omega, alpha, name) => ({
    value: interpolate(branch, omega, alpha, COLUMNS.indexOf(name), CUBIC),
    error: Math.abs(interpolate(branch, omega, alpha, COLUMNS.indexOf(`${name}_error`), LINEAR)),
  });

  const trainLoss = (task, name, omega, alpha) => interpolate(task.branches[name], omega, alpha, 1, CUBIC);

  /* The minimum of one branch, null where there is none. Overlaps are over sigma^2. The training loss is the
     ridge penalty and alpha times the misfit of a sentence. */
  function minimum(task, name, omega, alpha) {
    const within = range(task, name, omega), branch = task.branches[name];
    if (!within || alpha < within.from || alpha > within.to) return null;
    const own2 = quantity(branch, omega, alpha, "own2"), root = square => Math.sqrt(Math.max(square, 0));
    const low = root(own2.value - own2.error), high = root(own2.value + own2.error), own = root(own2.value);
    const overlap = {value: own / rho, error: (high - low) / 2 / rho, low: low / rho, high: high / rho};
    const none = {value: 0, error: 0, low: 0, high: 0};
    const loss = quantity(branch, omega, alpha, "train_loss"), q = quantity(branch, omega, alpha, "q").value;
    const ridge = data.lam * q / (2 * rho);
    return {
      train_loss: loss, test_mse: quantity(branch, omega, alpha, "test_mse"), q,
      theta: name === "semantic" ? overlap : none, m: name === "positional" ? overlap : none,
      ridge, misfit: (loss.value - ridge) / alpha,
    };
  }

  /* Everything at one point of the map. `gap`: semantic less positional training loss, where both are minima. */
  function at(task, omega, alpha) {
    const semantic = minimum(task, "semantic", omega, alpha), positional = minimum(task, "positional", omega, alpha);
    const gap = semantic && positional && {
      value: semantic.train_loss.value - positional.train_loss.value,
      error: Math.hypot(semantic.train_loss.error, positional.train_loss.error),
    };
    const winner = gap ? (gap.value < 0 ? "semantic" : "positional") : semantic ? "semantic" : positional ? "positional" : null;
    return {semantic, positional, gap, winner, baseline: along(task.baseline, omega),
            critical: along(task.critical, omega), linear: along(task.linear, omega)};
  }

  const logistic = t => 1 / (1 + Math.exp(-t));

  /* softmax(h h^T) of two fields. */
  function attention([h1, h2]) {
    const first = logistic(h1 * (h1 - h2)), second = logistic(h2 * (h2 - h1));
    return [[first, 1 - first], [1 - second, second]];
  }

  /* The target Y of a sentence with teacher fields y. */
  const teacher = (task, omega, y) =>
    attention(y).map((row, a) => row.map((soft, b) => (1 - omega) * soft + omega * task.A[a][b]));

  /* Attention of a student to that sentence: its field is (theta/rho) y_a + u_a m and noise of its own, over which the
     mean, the spread and the error (sigma^2/2) |S - Y|^2 are taken. */
  function student(point, y, target) {
    const theta = point.theta.value * rho, m = point.m.value * rho;
    const scale = Math.sqrt(Math.max(point.q - theta ** 2 / rho, 0));
    const mean = [[0, 0], [0, 0]], square = [[0, 0], [0, 0]];
    let error = 0;
    noise.forEach((z1, i) => noise.forEach((z2, j) => {
      const weight = weights[i] * weights[j];
      attention([z1, z2].map((z, a) => theta / rho * y[a] + SIGNS[a] * m + scale * z)).forEach((row, a) => row.forEach((s, b) => {
        mean[a][b] += weight * s;
        square[a][b] += weight * s * s;
        error += weight * rho / 2 * (s - target[a][b]) ** 2;
      }));
    }));
    const spread = mean.map((row, a) => row.map((s, b) => Math.sqrt(Math.max(square[a][b] - s * s, 0))));
    return {mean, spread, error};
  }

  return {tasks, along, range, lastOmega, trainLoss, minimum, at, teacher, student};
})(window.explorerData);
