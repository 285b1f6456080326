/* Figure 1, B, that moves: the training loss on the plane of two minima, computed in a worker for a row of alphas, and
   gradient descent from where a reader clicks. */
"use strict";
(root => {
  if (!root) return;
  const {constants, rate, ...job} = JSON.parse(root.querySelector("script").textContent);
  const NAMES = ["positional", "semantic"], LEVELS = 12, HEIGHT = 300;
  const DRAWN = {m: [-0.4, 1.5], theta: [-0.25, 0.9], excess: [-0.6, 2.2]};
  const shares = Array.from({length: 35}, (_, i) => i / 20 - 0.35), last = shares.length - 1;
  const [slider, value, said] = ["input", "b", "p"].map(name => root.querySelector(name));
  const [plane, cut] = root.querySelectorAll("svg");
  const [compute, roll] = [inWorker(constants), inWorker(constants)];
  const surfaces = [];  // one for each alpha, as they come
  let path = [], scales, touched = false;

  /** Empty a drawing; returns its scales, and functions that add to it and that give it axes. */
  function frame(svg, across, up, labels) {
    const width = svg.parentNode.clientWidth, picture = d3.select(svg).attr("width", width).attr("height", HEIGHT);
    const x = d3.scaleLinear(across, [50, width - 14]), y = d3.scaleLinear(up, [HEIGHT - 42, 10]);
    picture.selectAll("*").remove();
    const line = (kind, d) => picture.append("path").attr("class", kind).attr("d", d);
    const dot = (kind, left, top) => picture.append("circle").attr("class", kind).attr("r", 6)
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

  /** Contours over the plane: equal steps in the root of the loss above the lower minimum, as in the figure. */
  function drawPlane({losses, minima}) {
    const labels = ["overlap with the positions m/σ²", "with the teacher θ/σ²"];
    const {x, y, line, dot, axes} = frame(plane, DRAWN.m, DRAWN.theta, labels);
    const lowest = Math.min(...minima.map(({loss}) => loss)), excess = losses.map(loss => Math.max(loss - lowest, 0));
    const top = Math.sqrt(excess.toSorted((a, b) => a - b)[Math.floor(0.8 * excess.length)]);
    const depths = Array.from({length: LEVELS}, (_, k) => -((top * (k + 0.5) / LEVELS) ** 2)).concat(-Infinity);
    const point = place => {
      const [a, b] = place.map(at => shares[0] + (at - 0.5) * (shares[1] - shares[0]));
      return [x(a * minima[0].m + b * minima[1].m), y(a * minima[0].theta + b * minima[1].theta)];
    };
    const contours = d3.contours().size([shares.length, shares.length]).thresholds(depths);
    contours(excess.map(loss => -loss)).forEach(({coordinates}, k) =>  // the whole plane first: the lower, the darker
      line("depth", coordinates.flat().map(ring => `M${ring.map(point).join("L")}Z`).join(""))
        .style("fill", `hsl(0 0% ${100 - 75 * k / LEVELS}%)`));
    minima.forEach(({m, theta}, k) => dot(`dot ${NAMES[k]}`, m, theta));
    line("rolled", d3.line(({m}) => x(m), ({theta}) => y(theta))(path));
    for (const {m, theta} of path.slice(-1)) dot("ball", m, theta);
    axes();
    scales = {x, y};
  }

  /** The loss along the straight line from one minimum to the other, about the mean of both. */
  function drawCut({losses, minima}) {
    const labels = ["from the positional (0) to the semantic minimum (1)", "training loss about their mean, 10⁻³"];
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
    const surface = surfaces[slider.value];
    value.textContent = job.alphas[slider.value].toFixed(2);
    said.textContent = `Your browser has trained for ${surfaces.length} of ${job.alphas.length} values of α …`;
    if (!surface) return;
    drawPlane(surface);
    drawCut(surface);
    const [positional, semantic] = surface.minima.map(({loss}) => 1e3 * loss), deeper = semantic < positional;
    said.textContent = `The ${deeper ? "semantic" : "positional"} valley is deeper by ${
      Math.abs(semantic - positional).toFixed(2)} · 10⁻³.`;
  }

  /** Descend from the student a Q_positional + b Q_semantic. */
  function start(a, b) {
    const {alpha, weights: [positional, semantic]} = surfaces[slider.value];
    [path, touched] = [[], true];
    let drawing;
    roll("descent", {...job, largest: Math.max(...job.alphas), alpha, rate, every: 5,
                     start: positional.map((weight, i) => a * weight + b * semantic[i])}, point => {
      if (point) path.push(point);
      drawing ||= requestAnimationFrame(() => { drawing = null; show(); });
    });
  }

  slider.max = job.alphas.length - 1;
  slider.addEventListener("input", () => { [path, touched] = [[], true]; show(); });
  plane.addEventListener("click", event => {
    const box = plane.getBoundingClientRect(), [p, s] = surfaces[slider.value]?.minima ?? [];
    if (!p) return;
    const m = scales.x.invert(event.clientX - box.left), theta = scales.y.invert(event.clientY - box.top);
    const area = p.m * s.theta - s.m * p.theta;
    start((m * s.theta - theta * s.m) / area, (theta * p.m - m * p.theta) / area);
  });
  root.querySelector("button").addEventListener("click", () => surfaces[slider.value] && start(0.5, 0.5));
  new ResizeObserver(show).observe(root);
  root.hidden = false;
  compute("planes", {...job, shares}, surface => {
    if (surface) surfaces.push(surface);
    if (!touched) slider.value = surfaces.length - 1;  // it moves by itself as they come
    show();
  });
})(document.querySelector(".landscape"));
