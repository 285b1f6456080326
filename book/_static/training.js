/* Students trained in the reader's browser: sentences, their risk, L-BFGS, test errors; below, what is said of several
   data sets. The training is one function without surroundings, so that its source also runs in a worker. The risk is reduced as in
   `attention_phases.model.two_tokens`: an output moves on the line through both tokens. */
"use strict";
function attentionTraining({sigma, lam, noise, weights, arrival}) {
  const STEPS = 3000, TRIES = 40, MEMORY = 20, TOLERANCE = 1e-4;  // the last bounds |grad R| of L-BFGS
  const ZERO = 0.05;  // weights whose root mean square is smaller have gone to zero: those of any other minimum have 0.1
  const logistic = t => 1 / (1 + Math.exp(-t));
  const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;
  const norm = values => Math.sqrt(dot(values, values));

  function dot(a, b) {
    let sum = 0;
    for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
    return sum;
  }

  /** Add a multiple of b to a, in place. */
  function add(a, share, b) {
    for (let i = 0; i < a.length; i++) a[i] += share * b[i];
    return a;
  }

  /** A function that draws standard normal numbers (Box and Muller) from uniform ones (mulberry32). */
  function normals(seed) {
    let state = seed | 0, spare = null;
    function uniform() {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    }
    return () => {
      const kept = spare;
      spare = null;
      if (kept !== null) return kept;
      const radius = Math.sqrt(-2 * Math.log(1 - uniform())), angle = 2 * Math.PI * uniform();
      spare = radius * Math.sin(angle);
      return radius * Math.cos(angle);
    };
  }

  /** S_aa of two fields: what a token attends to itself. */
  const own = (h, a) => logistic(h[a] * (h[a] - h[1 - a]));

  /** Y_aa of the teacher. */
  const target = ({omega, A}, y, a) => (1 - omega) * own(y, a) + omega * A[a][a];

  /** A teacher and training sentences: x/sqrt(d) of both tokens, |x_1 - x_2|^2/d, the S_11 and S_22 that would fit each
      sentence best, and the loss that is left then. */
  function sample(task, count, d, normal) {
    const draw = size => Float64Array.from({length: d}, () => size * normal());
    const teacher = draw(1), [inputs, targets] = [2 * count * d, 2 * count].map(length => new Float64Array(length));
    const stiffness = new Float64Array(count), floor = new Float64Array(count);
    for (let k = 0; k < count; k++) {
      const xi = [draw(sigma), draw(sigma)], y = xi.map(token => dot(token, teacher) / Math.sqrt(d));
      const line = add(xi[0].slice(), -1, xi[1]), square = dot(line, line), along = mean(line) * Math.sqrt(d);
      stiffness[k] = (square + 4 * along + 4) / d;  // the encoding adds 2/sqrt(d) to each entry of the line
      for (const a of [0, 1]) {
        inputs.set(xi[a].map(entry => entry / Math.sqrt(d) + (1 - 2 * a) / d), (2 * k + a) * d);
        const Y = target(task, y, a), best = (Y * square + (2 * Y + 1) * along + 2) / (d * stiffness[k]);
        targets[2 * k + a] = best;
        floor[k] += (Y ** 2 * square + 2 * Y * along + 1) / (2 * d) - stiffness[k] * best ** 2 / 2;
      }
    }
    return {d, count, teacher, inputs, stiffness, targets, floor};
  }

  /** Empirical risk R(Q) of a student on the first `count` sentences, and its gradient. */
  function risk({d, count, inputs, stiffness, targets, floor}, Q) {
    const gradient = Q.map(weight => lam * weight);
    let value = lam * dot(Q, Q) / 2;
    for (let k = 0; k < count; k++) {
      const x = [2 * k, 2 * k + 1].map(row => inputs.subarray(row * d, (row + 1) * d)), h = x.map(row => dot(row, Q));
      const slopes = [0, 1].map(a => {
        const s = own(h, a), miss = s - targets[2 * k + a];
        value += stiffness[k] * miss ** 2 / 2;
        return stiffness[k] * miss * s * (1 - s);
      });
      x.forEach((row, a) => add(gradient, slopes[a] * (2 * h[a] - h[1 - a]) - slopes[1 - a] * h[1 - a], row));
      value += floor[k];
    }
    return {value, gradient};
  }

  /** L-BFGS from a start: before each step, and at the end, the student with its risk and the length of its gradient. */
  function* lbfgs(data, start) {
    const history = [];  // of moves and of what they changed in the gradient, the last one at the end
    for (let Q = start, now = risk(data, Q), step = 0; ; step++) {
      const slope = norm(now.gradient), ended = slope <= TOLERANCE || step === STEPS;
      yield {Q, slope, ended, value: now.value};
      if (ended) return;
      const direction = now.gradient.map(entry => -entry), shares = [];
      for (const {moved, turned, curvature} of history.toReversed()) {
        shares.unshift(dot(moved, direction) / curvature);
        add(direction, -shares[0], turned);
      }
      const {curvature = 1, turned = [1]} = history.at(-1) ?? {};
      add(direction, curvature / dot(turned, turned) - 1, direction.slice());
      history.forEach(({moved, turned, curvature}, i) =>
        add(direction, shares[i] - dot(turned, direction) / curvature, moved));
      // A step that may also become longer (weak Wolfe conditions): one that only shortens it finds the teacher as rarely
      // from random weights as gradient descent does.
      const fall = dot(now.gradient, direction);
      let low = 0, high = Infinity, length = 1, tried, next;
      for (let tries = 0; tries < TRIES; tries++) {
        tried = add(Q.slice(), length, direction);
        next = risk(data, tried);
        if (next.value > now.value + 1e-4 * length * fall) high = length;
        else if (dot(next.gradient, direction) < 0.9 * fall) low = length;
        else break;
        length = high < Infinity ? (low + high) / 2 : 2 * length;
      }
      const move = {moved: add(tried.slice(), -1, Q), turned: add(next.gradient.slice(), -1, now.gradient)};
      move.curvature = dot(move.moved, move.turned);
      if (move.curvature > 0) history.push(move);
      if (history.length > MEMORY) history.shift();
      [Q, now] = [tried, next];
    }
  }

  /** Gradient descent from a start, while |grad R| is larger than `least`: before each step, and at the end, as `lbfgs`. */
  function* descent(data, start, rate, least) {
    for (let Q = start, step = 0; ; step++) {
      const {value, gradient} = risk(data, Q), slope = norm(gradient), ended = slope <= least || step === STEPS;
      yield {Q, slope, ended, value};
      if (ended) return;
      Q = add(Q.slice(), -rate, gradient);
    }
  }

  /** The student that L-BFGS reaches from a start. */
  function minimise(data, start) {
    let last;
    for (last of lbfgs(data, start));
    return {Q: last.Q, train_loss: last.value / data.d, slope: last.slope, converged: last.slope <= TOLERANCE};
  }

  /** Order parameters of a student, and the cosines of its weights with the teacher and with the encoding. */
  function overlaps({d, teacher}, Q) {
    const q = sigma ** 2 * dot(Q, Q) / d, rho = sigma ** 2 * dot(teacher, teacher) / d;
    const theta = sigma ** 2 * dot(Q, teacher) / d, m = mean(Q);
    return {q, m, theta, rho, mTeacher: mean(teacher),
            cosines: {semantic: theta / Math.sqrt(q * rho), positional: sigma * m / Math.sqrt(q)}};
  }

  /** Mean of a function of standard normal numbers, so many of them, by Gauss-Hermite quadrature. */
  const average = (count, of, ...z) => count === z.length ? of(...z)
    : noise.reduce((sum, node, i) => sum + weights[i] * average(count, of, ...z, node), 0);

  /** Test error, as `attention_phases.model.prediction_error.test_error` defines it at finite d. */
  function testError(task, {q, m, theta, rho, mTeacher}, d) {
    const root = Math.sqrt(q), rest = Math.sqrt(Math.max(rho - theta ** 2 / q, 1e-12)), variance = sigma ** 2;
    const byXi = variance * m / root, byZeta = (variance * mTeacher - byXi * theta / root) / rest;
    return average(4, (xi1, xi2, zeta1, zeta2) => {
      const y = [theta / root * xi1 + rest * zeta1, theta / root * xi2 + rest * zeta2];
      const w = [root * xi1 + m, root * xi2 - m], along = byXi * (xi1 - xi2) + byZeta * (zeta1 - zeta2);
      const plane = variance * ((xi1 - xi2) ** 2 + (zeta1 - zeta2) ** 2) / 2;  // there a token is not free
      return mean([0, 1].map(a => {
        const s = own(w, a), miss = target(task, y, a) - s, passed = 2 * s - 1;
        const encoding = passed ** 2 / 2 - passed * miss * along;
        return 2 * variance * miss ** 2 + 2 * (plane * miss ** 2 - 2 * variance * miss ** 2 + encoding) / d;
      }));
    });
  }

  /** Students of each cell {alpha, seed}: from the teacher, from the encoding, and from random weights. The `valley` of
      the first two is the one whose direction they are closer to, and the one from random weights has arrived in its
      `valley`; or it is "zero". Overlaps are divided by sigma^2, and positive with the closer direction. */
  function* students({task, d, cells}) {
    for (const {alpha, seed} of cells) {
      const normal = normals(seed), data = sample(task, Math.round(alpha * d), d, normal);
      const starts = {semantic: data.teacher, positional: new Float64Array(d).fill(d ** -0.5),
                      random: data.teacher.map(() => 0.1 * normal())};
      const ends = {};  // cosines by start; the random one comes last
      for (const [start, weights] of Object.entries(starts)) {
        const {Q, train_loss, converged, slope} = minimise(data, weights), {cosines, ...point} = overlaps(data, Q);
        const closer = side(ends[start] = sizes(data, Q)), sign = Math.sign(cosines[closer]) / sigma ** 2;
        const end = start === "random" ? valley(ends.random, ends, slope) : closer;
        yield {start, valley: vanished(Q) ? "zero" : end, alpha, seed, train_loss, converged, test_mse: testError(task, point, d),
               theta: sign * point.theta, m: sign * point.m};
      }
    }
  }

  /** The plane of students a Q_positional + b Q_semantic, a and b from `shares`, at each alpha in turn: on the first
      alpha d sentences of each data set. `stayed`: both minima are on the side from which they were sought. */
  function* planes({task, d, seeds, alphas, shares}) {
    const all = seeds.map(seed => sample(task, Math.round(Math.max(...alphas) * d), d, normals(seed)));
    for (const alpha of alphas) for (const whole of all) {
      const data = {...whole, count: Math.round(alpha * d)};
      const minima = [data.teacher.map(() => d ** -0.5), data.teacher].map(start => minimise(data, start).Q);
      const products = minima.map(Q => minima.map(other => dot(Q, other)));
      // On the plane a sentence is its fields under both minima.
      const inputs = Float64Array.from({length: 4 * data.count}, (_, i) =>
        dot(data.inputs.subarray((i >> 1) * d, ((i >> 1) + 1) * d), minima[i % 2]));
      const losses = shares.flatMap(b => shares.map(a => {
        const square = a * a * products[0][0] + 2 * a * b * products[0][1] + b * b * products[1][1];
        return (risk({...data, d: 2, inputs}, [a, b]).value + lam * (square - a * a - b * b) / 2) / d;
      }));
      const stayed = minima.every((Q, k) => !vanished(Q) && side(sizes(data, Q)) === ["positional", "semantic"][k]);
      yield {alpha, losses, stayed, weights: minima, minima: minima.map(Q => place(data, Q))};
    }
  }

  /** Where a student is: overlaps over sigma^2, and the training loss. */
  function place(data, Q) {
    const {m, theta} = overlaps(data, Q);
    return {m: m / sigma ** 2, theta: theta / sigma ** 2, loss: risk(data, Q).value / data.d};
  }

  /** Several balls {k, data, way} on their ways down, by turns: where each is, every `every` steps and at its end. */
  function* roll(balls, every) {
    for (let step = 0, rolling = balls; rolling.length; step++) {
      for (const ball of rolling) {
        Object.assign(ball, ball.way.next().value);
        if (step % every === 0 || ball.ended) yield {k: ball.k, ...place(ball.data, ball.Q)};
      }
      rolling = rolling.filter(({ended}) => !ended);
    }
  }

  /** Descents from a student of each of the planes. */
  function* descents({task, d, seeds, largest, alpha, starts, rate, every}) {
    yield* roll(seeds.map((seed, k) => {
      const data = {...sample(task, Math.round(largest * d), d, normals(seed)), count: Math.round(alpha * d)};
      return {k, data, way: descent(data, starts[k], rate, 10 * TOLERANCE)};
    }), every);
  }

  /** Ways down from small random weights plus a `hint`, a share of the teacher's, each on a data set of its own, by
      gradient descent if there is a rate, and otherwise by L-BFGS; with its end comes its valley, or "zero". */
  function* rolls({task, d, seeds, alpha, rate, every, hint = 0}) {
    const balls = seeds.map((seed, k) => {
      const normal = normals(seed), data = sample(task, Math.round(alpha * d), d, normal);
      const start = data.teacher.map(weight => 0.1 * normal() + hint * weight);
      return {k, data, way: rate ? descent(data, start, rate, arrival.gradient) : lbfgs(data, start)};
    });
    for (const point of roll(balls, every)) {
      const {data, Q, slope, ended} = balls[point.k];
      yield !ended ? point
        : {...point, valley: vanished(Q) ? "zero" : valley(sizes(data, Q), informed(data), slope)};
    }
  }

  const vanished = Q => norm(Q) < ZERO * Math.sqrt(Q.length);

  /** Cosines without their signs. */
  const sizes = (data, Q) => {
    const {semantic, positional} = overlaps(data, Q).cosines;
    return {semantic: Math.abs(semantic), positional: Math.abs(positional)};
  };

  /** Cosines of the two minima that informed starts lead to. */
  const informed = data => ({
    semantic: sizes(data, minimise(data, data.teacher).Q),
    positional: sizes(data, minimise(data, new Float64Array(data.d).fill(data.d ** -0.5)).Q),
  });

  const side = ({semantic, positional}) => semantic > positional ? "semantic" : "positional";

  /** The valley in which a student has arrived, as the page of Figure 15 counts it: that of its larger cosine, if the
      gradient is small and both cosines are close to those of the minimum there. */
  function valley(cosines, minima, slope) {
    const own = side(cosines), minimum = minima[own];
    const near = ["semantic", "positional"].every(name => Math.abs(cosines[name] - minimum[name]) <= arrival.cosine);
    return slope > arrival.gradient ? "still moving" : side(minimum) === own && near ? own : "neither";
  }

  return {normals, sample, risk, students, planes, descents, rolls, valley};
}

/** Mean over data sets, and its standard error where there are several. */
function measured(values) {
  const value = values.reduce((sum, some) => sum + some, 0) / values.length;
  const square = values.reduce((sum, some) => sum + (some - value) ** 2, 0);
  return {value, error: Math.sqrt(square / Math.max(values.length - 1, 1) / values.length)};
}

/** A function that has a generator of `attentionTraining` do a job in a worker; each result is `answered`, at last
    null. A new job ends the one before; so does none. A page from a disk may load no worker but this kind. */
function inWorker(constants) {
  const source = `"use strict"; ${attentionTraining}
    const training = attentionTraining(${JSON.stringify(constants)});
    onmessage = ({data: [name, job]}) => {
      for (const result of training[name](job)) postMessage(result);
      postMessage(null);
    };`;
  const url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
  let worker;
  return (name, job, answered) => {
    worker?.terminate();
    if (!name) return;
    worker = new Worker(url);
    worker.onmessage = ({data}) => answered(data);
    worker.postMessage([name, job]);
  };
}
