/* Figure 1, B, that moves: the training loss on the plane of two minima, its mean over several data sets, computed in a
   worker for a row of alphas; and on each of them gradient descent from where a reader clicks. */
"use strict";
/** The mean, over data sets, of the training loss on a plane of students, and of its two minima. */
function meanSurface(several) {
  const mean = values => measured(values).value;
  return {
    losses: several[0].losses.map((_, i) => mean(several.map(({losses}) => losses[i]))),
    minima: [0, 1].map(k => Object.fromEntries(["m", "theta", "loss"]
      .map(name => [name, mean(several.map(({minima}) => minima[k][name]))]))),
  };
}

/** Outlines of where the loss on a plane is low, from the whole plane to its lowest part: equal steps in the root of the
    loss above the lower minimum, the first at this quantile of it. */
function outlines({losses, minima}, shares, x, y, quantile) {
  const LEVELS = 12, lowest = Math.min(...minima.map(({loss}) => loss));
  const excess = losses.map(loss => Math.max(loss - lowest, 0));
  const top = Math.sqrt(excess.toSorted((a, b) => a - b)[Math.floor(quantile * excess.length)]);
  const depths = Array.from({length: LEVELS}, (_, k) => -((top * (k + 0.5) / LEVELS) ** 2)).concat(-Infinity);
  const drawn = place => {
    const [a, b] = place.map(at => shares[0] + (at - 0.5) * (shares[1] - shares[0]));
    return [x(a * minima[0].m + b * minima[1].m), y(a * minima[0].theta + b * minima[1].theta)].map(at => at.toFixed(1));
  };
  return d3.contours().size([shares.length, shares.length]).thresholds(depths)(excess.map(loss => -loss))
    .map(({coordinates}) => coordinates.flat().map(ring => `M${ring.map(drawn).join("L")}Z`).join(""));
}

(root => {
  if (!root) return;
  const {constants, rate, critical, ...job} = JSON.parse(root.querySelector("script").textContent);
  const NAMES = ["positional", "semantic"], HEIGHT = 300;
  const NEAR = 0.1;  // of a minimum, in both overlaps: descents stop a little before it
  const DRAWN = {m: [-0.4, 1.5], theta: [-0.25, 0.9], excess: [-0.6, 2.2]};
  const last = 24, shares = Array.from({length: last + 1}, (_, i) => 1.7 * i / last - 0.35);  // of both: to 1.35
  const [slider, value, mark, said] = ["input", "b", ".at-critical", "[role=status]"].map(name => root.querySelector(name));
  const [plane, cut] = root.querySelectorAll("svg");
  const [compute, roll] = [inWorker(constants), inWorker(constants)];
  const surfaces = new Map(job.alphas.map(alpha => [alpha, []]));  // one for each data set, as they come
  const shown = () => surfaces.get(job.alphas[slider.value]);
  const STEPS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1], Enter: [0, 0]};
  let paths = [], ended = false, scales, aim;  // the last: where arrow keys point, in both overlaps

  /** Empty a drawing; returns its scales, and functions that add to it and that give it axes. */
  function frame(svg, across, up, labels) {
    const width = svg.parentNode.clientWidth, picture = d3.select(svg).attr("width", width).attr("height", HEIGHT);
    const x = d3.scaleLinear(across, [50, width - 14]), y = d3.scaleLinear(up, [HEIGHT - 42, 10]);
    picture.selectAll("*").remove();
    const line = (kind, d) => picture.append("path").attr("class", kind).attr("d", d);
    const dot = (kind, left, top, r = 6) => picture.append("circle").attr("class", kind).attr("r", r)
      .attr("cx", x(left)).attr("cy", y(top));
    const text = (place, words) => picture.append("text").attr("class", "label").attr("transform", place).text(words);
    const axis = (place, ruler) => picture.append("g").attr("class", "axis").attr("transform", place)
      .call(ruler.ticks(5).tickSizeOuter(0));
    const axes = () => {
      axis(`translate(0,${HEIGHT - 42})`, d3.axisBottom(x));
      axis("translate(50,0)", d3.axisLeft(y));
      text(`translate(${width / 2},${HEIGHT - 6})`, labels[0]);
      text(`translate(12,${HEIGHT / 2 - 16})rotate(-90)`, labels[1]);
    };
    return {x, y, line, dot, axes};
  }

  /** Contours over the plane, as in the figure. */
  function drawPlane(surface) {
    const labels = ["overlap with the positions m/σ²", "overlap with the teacher θ/σ²"];
    const {x, y, line, dot, axes} = frame(plane, DRAWN.m, DRAWN.theta, labels);
    for (const ring of outlines(surface, shares, x, y, 0.8))  // each darkens what is inside it
      line("depth", ring).attr("clip-path", "url(#landscape-frame)");
    surface.minima.forEach(({m, theta}, k) => dot(`dot ${NAMES[k]}`, m, theta));
    const [[left, right], [low, high]] = [x.range(), y.range()];  // a descent may leave the frame, its drawing may not
    d3.select(plane).append("clipPath").attr("id", "landscape-frame")
      .append("path").attr("d", `M${left} ${high}H${right}V${low}H${left}Z`);
    for (const path of paths) {
      const drawn = [line("rolled", d3.line(({m}) => x(m), ({theta}) => y(theta))(path))];
      for (const {m, theta} of path.slice(-1)) drawn.push(dot("ball", m, theta, 4));
      for (const part of drawn) part.attr("clip-path", "url(#landscape-frame)");
    }
    if (aim && !paths.length) dot("ball", aim.m, aim.theta, 4);
    axes();
    scales = {x, y};
  }

  /** The loss along the straight line from one minimum to the other, about the mean of both. */
  function drawCut({losses, minima}) {
    const labels = ["positional minimum (0) to semantic minimum (1)", "training loss minus their mean, 10⁻³"];
    const {x, y, line, dot, axes} = frame(cut, [-0.3, 1.3], DRAWN.excess, labels);
    const middle = (minima[0].loss + minima[1].loss) / 2, height = loss => 1e3 * (loss - middle);
    const points = shares.map((share, i) => [share, height(losses[last * (i + 1)])]);  // there a is 1 - b
    const inside = points.filter(([share, loss]) => Math.abs(share - 0.5) < 0.81 && loss < DRAWN.excess[1]);
    line("level", `M50 ${y(0)}H${x(1.3)}`);
    line("cut", d3.line(([share]) => x(share), ([, loss]) => y(loss))(inside));
    minima.forEach(({loss}, k) => dot(`dot ${NAMES[k]}`, k, height(loss)));
    axes();
  }

  function show() {
    const several = shown(), alpha = job.alphas[slider.value], count = job.seeds.length;
    value.textContent = alpha.toFixed(1);
    said.textContent = `Your browser has trained on ${several.length} of ${count} data sets …`;
    root.classList.toggle("waiting", !several.length);
    if (!several.length) return;
    drawPlane(meanSurface(several));
    drawCut(meanSurface(several));
    if (several.length === count) said.textContent = depths(several.map(({minima: [p, s]}) => 1e3 * (p.loss - s.loss)));
    if (ended) said.textContent += ` ${ends(several)}`;
  }

  /** Which valley is deeper, on average and on how many data sets; `leads`: by how much the semantic one is. */
  function depths(leads) {
    const {value, error} = measured(leads), deeper = value > 0 ? "semantic" : "positional";
    const told = Math.abs(value) < 2 * error ? `Within two standard errors both valleys are equally deep. The ${deeper} valley` : `The ${deeper} valley`;
    return `${told} is deeper on ${leads.filter(lead => lead * value > 0).length} of ${leads.length
    } data sets, by ${Math.abs(value).toFixed(2)} ± ${error.toFixed(2)} · 10⁻³ on average.`;
  }

  /** In which valley the descents ended: that of the nearest minimum of the same data set, or of its mirror image,
      because a student and its negative attend alike. */
  function ends(several) {
    const found = paths.map((path, k) => {
      const away = [1, -1].flatMap(sign => several[k].minima.map(({m, theta}) =>
        Math.hypot(sign * path.at(-1).m - m, sign * path.at(-1).theta - theta)));
      const nearest = away.indexOf(Math.min(...away));
      return away[nearest] < NEAR ? {end: NAMES[nearest % 2], mirrored: nearest > 1} : {end: "neither"};
    });
    const [positional, semantic, neither] = [...NAMES, "neither"].map(name => found.filter(({end}) => end === name).length);
    const mirrored = found.filter(({mirrored}) => mirrored).length;
    const unmoved = paths.filter(path => Math.hypot(path.at(-1).m, path.at(-1).theta) < 1e-3).length;
    return `Of ${paths.length} descents${paths.length < several.length ? " on the data sets trained by then" : ""} ${semantic} ended in the semantic valley, ${positional} in the positional valley, ${
      neither} in neither.${mirrored ? ` ${mirrored} of them ended in the mirror image of a valley, outside the frame.` : ""}${
      unmoved ? ` ${unmoved} stayed at zero weights, where the loss has no slope.` : ""}`;
  }

  /** Descend from the student a Q_positional + b Q_semantic of each data set. */
  function start(a, b) {
    const several = shown();
    [paths, ended] = [several.map(() => []), false];
    let drawing;
    roll("descents", {...job, largest: Math.max(...job.alphas), alpha: job.alphas[slider.value], rate, every: 5,
                      seeds: job.seeds.slice(0, several.length), starts: several.map(({weights: [p, s]}) =>
                        p.map((weight, i) => a * weight + b * s[i]))}, point => {
      if (point) paths[point.k].push(point);
      else ended = true;
      drawing ||= requestAnimationFrame(() => { drawing = null; show(); });
    });
  }

  /** Descend from the student of the plane that has these overlaps. */
  function startAt({m, theta}) {
    const [p, s] = meanSurface(shown()).minima, area = p.m * s.theta - s.m * p.theta;
    start((m * s.theta - theta * s.m) / area, (theta * p.m - m * p.theta) / area);
  }

  /** Train where surfaces are missing: first where the slider is, then beside it. */
  function train() {
    const away = alpha => Math.abs(alpha - job.alphas[slider.value]);
    const alphas = job.alphas.filter(alpha => surfaces.get(alpha).length < job.seeds.length);
    for (const alpha of alphas) surfaces.set(alpha, []);
    compute("planes", {...job, alphas: alphas.toSorted((a, b) => away(a) - away(b)), shares}, surface => {
      if (surface) surfaces.get(surface.alpha).push(surface);
      if (surface?.alpha === job.alphas[slider.value]) show();
    });
  }

  Object.assign(plane, {tabIndex: 0, role: "group", ariaLabel: `${plane.ariaLabel}; arrow keys choose where, Enter starts`});
  slider.max = job.alphas.length - 1;
  slider.value = job.alphas.indexOf(1);
  mark.style.setProperty("--share", (critical - job.alphas[0]) / (job.alphas.at(-1) - job.alphas[0]));
  slider.addEventListener("input", () => { [paths, ended] = [[], false]; roll(); show(); });
  slider.addEventListener("change", () => { if (!shown().length) train(); });
  plane.addEventListener("click", event => {
    if (!shown().length) return;
    const box = plane.getBoundingClientRect();
    startAt({m: scales.x.invert(event.clientX - box.left), theta: scales.y.invert(event.clientY - box.top)});
  });
  plane.addEventListener("keydown", event => {
    const step = STEPS[event.key];
    if (!step || !shown().length) return;
    event.preventDefault();
    const {m, theta} = aim ?? {m: 0.5, theta: 0.3};
    const [left, right, low, high] = [...scales.x.domain(), ...scales.y.domain()];
    const inside = (value, from, to) => Math.min(Math.max(value, from), to);
    aim = {m: inside(m + 0.05 * step[0], left, right), theta: inside(theta + 0.05 * step[1], low, high)};
    if (event.key === "Enter") return startAt(aim);
    [paths, ended] = [[], false];
    roll();
    show();
  });
  root.querySelector("button").addEventListener("click", () => shown().length && start(0.5, 0.5));
  new ResizeObserver(show).observe(root);
  root.hidden = false;
  train();
})(document.querySelector(".landscape"));
