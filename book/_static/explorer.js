/* The explorer on the landing page: one state, moved by two sliders or by a pointer on the map, and what it shows.
   Numbers come from explorer-theory.js; colours are classes, so that the theme's button needs no redrawing. */
"use strict";
(theory => {
  const NAMES = ["semantic", "positional"];
  const SLIDERS = {
    omega: {min: 0.02, max: 0.5, step: 0.005, digits: 3}, alpha: {min: 0.02, max: 2, step: 0.01, digits: 2},
    y1: {min: -1.5, max: 1.5, step: 0.05, digits: 2}, y2: {min: -1.5, max: 1.5, step: 0.05, digits: 2},
  };
  const START = {matrix: "standard", omega: 0.3, alpha: 1.4, y1: 0.7, y2: -0.3};
  const PANELS = [
    {title: "training loss <i>ε<sub>t</sub></i>, 10⁻³", scale: 1e3, of: point => point.train_loss, tall: true},
    {title: "test error <i>ε<sub>g</sub></i>, 10⁻³", scale: 1e3, of: point => point.test_mse, tall: true, baseline: true},
    {title: "overlap with the teacher, <i>θ</i>/<i>σ</i>²", scale: 1, of: point => point.theta},
    {title: "overlap with the positions, <i>m</i>/<i>σ</i>²", scale: 1, of: point => point.m},
  ];
  const SAID_AFTER = 600;  // milliseconds after the last move

  const root = document.querySelector(".explorer");
  if (!root) return;
  const part = name => root.querySelector(`.explorer-${name}`);
  const inputs = Object.fromEntries(Object.keys(SLIDERS).map(name => [name, root.querySelector(`[name=${name}]`)]));
  const state = {...START};
  const task = () => theory.tasks[state.matrix];
  const fixed = (value, digits) => value.toFixed(digits).replace(/^-(?=0\.?0*$)/, "").replace("-", "−");

  /* A number with its error, to two digits of an error that begins with 1 or 2, else to one. */
  function withError({value, error}, scale = 1) {
    const power = Math.log10(error * scale), leading = 10 ** (power - Math.floor(power));
    const digits = error > 0 ? Math.min(5, Math.max(0, (leading < 2.95 ? 1 : 0) - Math.floor(power))) : 3;
    return `${fixed(value * scale, digits)} ± ${fixed(error * scale, digits)}`;
  }

  // State ------------------------------------------------------------------------------------------------------------

  /* Take new values, as far as they are allowed, and show them. */
  function change(values) {
    for (const [name, value] of Object.entries(values)) {
      if (name === "matrix" && theory.tasks[value]) state.matrix = value;
      const limits = SLIDERS[name], number = Number(value);
      if (limits && Number.isFinite(number)) {
        const steps = Math.round((Math.min(Math.max(number, limits.min), limits.max) - limits.min) / limits.step);
        state[name] = Number((limits.min + steps * limits.step).toFixed(6));
      }
    }
    show();
  }

  /* The same by hand: the address follows, so that a view can be linked. */
  function move(values) {
    change(values);
    const shown = Object.entries(state).filter(([name, value]) => ["omega", "alpha"].includes(name) || value !== START[name]);
    history.replaceState(null, "", `#${new URLSearchParams(shown)}`);
  }

  const fromAddress = () => new URLSearchParams(location.hash.slice(1));

  // Words ------------------------------------------------------------------------------------------------------------

  const written = name => fixed(state[name], SLIDERS[name].digits).replace(/(\.\d\d)0$/, "$1");
  const place = () => `At ω = ${written("omega")} and α = ${fixed(state.alpha, 2)}`;

  function whyNone(name) {
    const within = theory.range(task(), name, state.omega);
    if (!within) return `no ${name} minimum beyond ω = ${fixed(theory.lastOmega(task(), name), 2)}`;
    return state.alpha < within.from
      ? `no ${name} minimum here: it begins at α = ${fixed(within.from, 2)}`
      : `no ${name} minimum here: it ends at α = ${fixed(within.to, 2)}`;
  }

  const tie = ({gap}) => gap && Math.abs(gap.value) < 2 * gap.error;

  /* The result: {head, rest} as plain text. */
  function verdict(view) {
    if (!view.winner) return {head: "No minimum.", rest: `${place()} theory has ${NAMES.map(whyNone).join(", and ")}.`};
    const other = NAMES.find(name => name !== view.winner), test = view[view.winner].test_mse.value < view.baseline.value;
    const predicts = `On new sentences it does ${test ? "better" : "worse"} than the linear model.`;
    if (!view.gap) return {head: `Only the ${view.winner} student.`, rest: `${place()} replica-symmetric theory has ${whyNone(other)}. ${predicts}`};
    const by = Math.abs(view.gap.value), share = 100 * by / view[other].train_loss.value;
    if (tie(view)) return {head: "A tie.", rest: `${place()} the two training losses differ by less than two errors.`};
    return {head: `The ${view.winner} student wins.`, rest: `${place()} its training loss is lower by `
      + `${withError({value: by, error: view.gap.error}, 1e3)} (in 10⁻³), ${fixed(share, share < 1 ? 2 : 1)} %. ${predicts}`};
  }

  /* What the two losses are made of, here. */
  function account({semantic, positional, gap}) {
    if (!gap) return "";
    const milli = number => fixed(1e3 * number, 2);
    return `Ridge penalty: ${milli(semantic.ridge)} semantic, ${milli(positional.ridge)} positional. Misfit of a training `
      + `sentence: ${milli(semantic.misfit)} semantic, ${milli(positional.misfit)} positional (10⁻³).`;
  }

  const more = Object.assign(document.createElement("a"), {href: "#why-semantic", textContent: "What this means"});
  let saying;
  function say(words) {
    const {head, rest} = verdict(words), paid = account(words);
    const strong = document.createElement("strong");
    strong.textContent = head;
    strong.className = tie(words) ? "" : words.winner ?? "";
    part("verdict").replaceChildren(strong, ` ${rest} ${paid} `);
    if (paid) part("verdict").append(more);
    clearTimeout(saying);
    saying = setTimeout(() => { part("said").textContent = `${head} ${rest}`; }, SAID_AFTER);
  }

  // Map --------------------------------------------------------------------------------------------------------------

  const map = d3.select(part("map")).select("svg"), MARGIN = {left: 44, right: 10, top: 8, bottom: 40};
  const drawn = {x: null, y: null};  // scales of the map as it stands

  function frame(svg, width, height, x, y, margin, ticks) {
    svg.attr("width", width).attr("height", height).attr("viewBox", `0 0 ${width} ${height}`);
    svg.selectAll("*").remove();
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - margin.bottom})`).call(d3.axisBottom(x).ticks(ticks[0]));
    svg.append("g").attr("class", "axis").attr("transform", `translate(${margin.left},0)`).call(d3.axisLeft(y).ticks(ticks[1]));
  }

  /* Values on a grid over the map, and the contour that each threshold has there. */
  function contourPaths(values, columns, rows, thresholds, x, y) {
    const path = rings => rings.map(ring => `M${ring.map(([i, j]) => [
      x(SLIDERS.omega.min + (i - 0.5) * (SLIDERS.omega.max - SLIDERS.omega.min) / (columns - 1)).toFixed(1),
      y(SLIDERS.alpha.min + (j - 0.5) * (SLIDERS.alpha.max - SLIDERS.alpha.min) / (rows - 1)).toFixed(1)].join()).join("L")}Z`).join("");
    return d3.contours().size([columns, rows]).thresholds(thresholds)(values).map(contour => contour.coordinates.map(path).join(""));
  }

  /* How far inside the range of each minimum every grid point is, and the gap of the losses where it is in both. */
  function field(columns, rows) {
    const inside = {semantic: [], positional: []}, gap = [], now = task();
    for (let i = 0; i < columns; i++) {
      const omega = SLIDERS.omega.min + i * (SLIDERS.omega.max - SLIDERS.omega.min) / (columns - 1);
      const ranges = NAMES.map(name => theory.range(now, name, omega));
      for (let j = 0; j < rows; j++) {
        const alpha = SLIDERS.alpha.min + j * (SLIDERS.alpha.max - SLIDERS.alpha.min) / (rows - 1), k = j * columns + i;
        NAMES.forEach((name, n) => {
          const within = ranges[n];
          inside[name][k] = within ? Math.min(alpha - within.from, within.ended ? within.to - alpha : Infinity) : -1;
        });
        const near = NAMES.every(name => inside[name][k] > -0.05);
        const losses = near ? NAMES.map(name => theory.trainLoss(now, name, omega, alpha)) : [NaN, NaN];
        gap[k] = losses[0] - losses[1];
      }
    }
    return {inside, gap};
  }

  function drawMap() {
    const width = part("map").clientWidth, height = Math.round(Math.max(260, Math.min(0.78 * width, 330)));
    const x = d3.scaleLinear([0, 0.52], [MARGIN.left, width - MARGIN.right]);
    const y = d3.scaleLinear([0, 2.02], [height - MARGIN.bottom, MARGIN.top]);
    Object.assign(drawn, {x, y, width, height});
    frame(map, width, height, x, y, MARGIN, [6, 5]);
    map.append("text").attr("class", "label").attr("x", width / 2).attr("y", height - 6).text("positional share of the teacher ω");
    map.append("text").attr("class", "label").attr("transform", `translate(12,${height / 2 - 10})rotate(-90)`).text("sentences per dimension α");
    drawRegions(x, y);
    drawCurves(x, y);
    map.append("path").attr("class", "crosshair");
  }

  function drawRegions(x, y) {
    const columns = 81, rows = 81, {inside, gap} = field(columns, rows);
    const paths = (values, thresholds) => contourPaths(values, columns, rows, thresholds, x, y);
    const only = (name, other) => inside[name].map((value, k) => Math.min(value, -inside[other][k]));
    const both = inside.semantic.map((value, k) => Math.min(value, inside.positional[k]));
    map.append("clipPath").attr("id", "explorer-both").append("path").attr("d", paths(both, [0])[0]);
    const hatch = map.append("pattern").attr("id", "explorer-hatch").attr("width", 6).attr("height", 6)
      .attr("patternUnits", "userSpaceOnUse").attr("patternTransform", "rotate(45)");
    hatch.append("path").attr("d", "M0 0V6");
    for (const [name, other, sign] of [["semantic", "positional", -1], ["positional", "semantic", 1]]) {
      const alone = paths(only(name, other), [0])[0];
      map.append("path").attr("class", `region ${name}`).attr("d", alone);
      map.append("path").attr("class", "alone").attr("d", alone);
      const wins = map.append("g").attr("clip-path", "url(#explorer-both)");
      for (const d of paths(gap.map(value => sign * value), [0, 1e-4, 3e-4, 1e-3])) wins.append("path").attr("class", `region ${name}`).attr("d", d);
      const own = gap.flatMap((value, k) => inside[name][k] > 0 && (inside[other][k] <= 0 || sign * value > 0) ? [k] : []);
      if (own.length > 0.08 * columns * rows) {
        const middle = own.map(k => [k % columns, Math.floor(k / columns)]).reduce((a, b) => [a[0] + b[0] / own.length, a[1] + b[1] / own.length], [0, 0]);
        map.append("text").attr("class", `wins ${name}`)
          .attr("x", x(SLIDERS.omega.min + middle[0] * 0.48 / (columns - 1))).attr("y", y(SLIDERS.alpha.min + middle[1] * 1.98 / (rows - 1)))
          .text(`${name} wins`);
      }
    }
  }

  function drawCurves(x, y) {
    const now = task(), curve = d3.line(([omega]) => x(omega), ([, alpha]) => y(alpha)).defined(([, alpha]) => alpha <= 2);
    const omegas = Array.from({length: 193}, (_, i) => SLIDERS.omega.min + i * 0.0025);
    const add = (at, kind) => map.append("path").attr("class", kind).attr("d", curve(omegas.map(omega => [omega, at(omega) ?? NaN])));
    add(omega => theory.range(now, "semantic", omega)?.from, "border semantic");
    add(omega => theory.range(now, "positional", omega)?.from, "border positional");
    add(omega => { const within = theory.range(now, "positional", omega); return within?.ended ? within.to : NaN; }, "border positional");
    add(omega => theory.along(now.critical, omega)?.value, "critical");
    add(omega => theory.along(now.linear, omega)?.value, "linear");
  }

  function moveCrosshair() {
    const {x, y, width, height} = drawn, [left, top] = [x(state.omega), y(state.alpha)];
    map.select(".crosshair").attr("d", `M${left} ${MARGIN.top}V${height - MARGIN.bottom}M${MARGIN.left} ${top}H${width - MARGIN.right}`);
    part("handle").style.translate = `${left}px ${top}px`;
  }

  /* While the pointer is down on an element, the point of the drawing under it is the state. A finger beside the
     handle may mean to scroll: it counts when it is lifted where it came down, or as soon as it moves sideways. */
  function follow(element, svg, moved) {
    let from = null;
    const report = event => {
      from = null;
      moved(event.clientX - svg.getBoundingClientRect().left, event.clientY - svg.getBoundingClientRect().top);
    };
    element.addEventListener("pointerdown", event => {
      element.setPointerCapture(event.pointerId);
      if (event.pointerType !== "touch") report(event);
      else if (element === svg) from = [event.clientX, event.clientY];
    });
    element.addEventListener("pointermove", event => {
      if (!element.hasPointerCapture(event.pointerId)) return;
      const [across, down] = from ? [Math.abs(event.clientX - from[0]), Math.abs(event.clientY - from[1])] : [1, 0];
      if (!from || (across > 8 && across > down)) report(event);
    });
    element.addEventListener("pointerup", event => {
      if (from && Math.hypot(event.clientX - from[0], event.clientY - from[1]) < 8) report(event);
    });
  }

  // Panels along alpha -----------------------------------------------------------------------------------------------

  const SMALL = {left: 38, right: 8, top: 6, bottom: 22};
  const panels = PANELS.map(panel => {
    const figure = document.createElement("div");
    figure.innerHTML = `<p>${panel.title}</p><svg role="img" aria-label="Along alpha: ${
      panel.title.replace(/<[^>]*>/g, "")}, of both students"></svg>`;
    part("panels").append(figure);
    const svg = figure.querySelector("svg");
    const shown = {...panel, figure, svg: d3.select(svg), x: null};
    follow(svg, svg, left => move({alpha: shown.x.invert(left)}));
    return shown;
  });

  /* Both branches at this omega, sampled along alpha. */
  function samples() {
    return NAMES.map(name => {
      const within = theory.range(task(), name, state.omega);
      if (!within || within.from >= 2) return [];
      return Array.from({length: 61}, (_, i) => within.from + i / 60 * (Math.min(within.to, 2) - within.from))
        .map(alpha => ({alpha, ...theory.minimum(task(), name, state.omega, alpha)})).filter(point => point.train_loss);
    });
  }

  function drawPanel(panel, curves, view) {
    const width = panel.figure.clientWidth, height = panel.tall ? 168 : 128, {svg, of, scale} = panel;
    const x = panel.x = d3.scaleLinear([0, 2.02], [SMALL.left, width - SMALL.right]);
    const every = curves.flat().map(point => scale * (of(point).high ?? of(point).value));
    const y = d3.scaleLinear([0, Math.max(...every, scale * (panel.baseline ? view.baseline.value : 0), 1e-9) * 1.06], [height - SMALL.bottom, SMALL.top]);
    frame(svg, width, height, x, y, SMALL, [5, 4]);
    for (const [kind, threshold] of [["critical", view.critical], ["linear", panel.baseline && view.linear]])
      if (threshold && threshold.value <= 2) svg.append("path").attr("class", kind).attr("d", `M${x(threshold.value)} ${SMALL.top}V${height - SMALL.bottom}`);
    if (panel.baseline) svg.append("path").attr("class", "baseline").attr("d", `M${SMALL.left} ${y(scale * view.baseline.value)}H${width - SMALL.right}`);
    NAMES.forEach((name, n) => {
      const low = point => scale * Math.max(0, of(point).low ?? of(point).value - of(point).error);
      const high = point => scale * (of(point).high ?? of(point).value + of(point).error);
      svg.append("path").attr("class", `band ${name}`).attr("d", d3.area(p => x(p.alpha), p => y(low(p)), p => y(high(p)))(curves[n]));
      svg.append("path").attr("class", `curve ${name}`).attr("d", d3.line(p => x(p.alpha), p => y(scale * of(p).value))(curves[n]));
      if (view[name]) svg.append("circle").attr("class", `dot ${name}`).attr("r", 4).attr("cx", x(state.alpha)).attr("cy", y(scale * of(view[name]).value));
    });
    svg.append("path").attr("class", "crosshair").attr("d", `M${x(state.alpha)} ${SMALL.top}V${height - SMALL.bottom}`);
  }

  // Tables -----------------------------------------------------------------------------------------------------------

  function matrix(name, title, {mean, spread}, note) {
    const cells = mean.map((row, a) => `<tr><th scope="row">${a + 1}</th>${row.map((share, b) =>
      `<td data-value="${share}" style="--share:${(100 * share).toFixed(1)}%">${fixed(share, 3)}${
        spread ? `<small>± ${fixed(spread[a][b], 3)}</small>` : ""}</td>`).join("")}</tr>`).join("");
    return `<div class="${name}"><table><caption>${title}</caption><thead><tr><td></td><th scope="col">to 1</th>
      <th scope="col">to 2</th></tr></thead><tbody>${cells}</tbody></table><p>${note}</p></div>`;
  }

  function showAttention(view) {
    const y = [state.y1, state.y2], target = theory.teacher(task(), state.omega, y);
    part("attention").innerHTML = matrix("teacher", "teacher, <i>Y</i>", {mean: target}, "the target")
      + NAMES.map(name => {
        if (!view[name]) return `<div class="${name}"><p class="missing"><strong>${name} student</strong><br>${whyNone(name)}</p></div>`;
        const attention = theory.student(view[name], y, target);
        return matrix(name, `${name}, <i>S</i>`, attention, `misses <i>Y</i> by ${fixed(1e3 * attention.error, 2)}·10⁻³`);
      }).join("");
  }

  function showNumbers(view) {
    const rows = [["training loss, 10⁻³", "train_loss", 1e3], ["test error, 10⁻³", "test_mse", 1e3],
                  ["θ/σ²", "theta", 1], ["m/σ²", "m", 1]];
    const cell = (name, key, scale) => view[name] ? `<td data-name="${name} ${key}" data-value="${view[name][key].value}"
      data-error="${view[name][key].error}">${view[name][key].error ? withError(view[name][key], scale) : "0"}</td>` : "<td>no minimum</td>";
    part("numbers").querySelector("div").innerHTML = `<table><thead><tr><td></td>${NAMES.map(name =>
      `<th scope="col">${name}</th>`).join("")}</tr></thead><tbody>${rows.map(([label, key, scale]) =>
      `<tr><th scope="row">${label}</th>${NAMES.map(name => cell(name, key, scale)).join("")}</tr>`).join("")}</tbody></table>
      <p>Linear model: test error ${withError(view.baseline, 1e3)}·10⁻³. ${[["critical", "c"], ["linear", "l"]].map(([kind, letter]) =>
        view[kind] ? `<i>α<sub>${letter}</sub></i> = ${withError(view[kind])}. ` : "").join("")}</p>`;
  }

  // All of it --------------------------------------------------------------------------------------------------------

  function show() {
    const view = theory.at(task(), state.omega, state.alpha), curves = samples();
    for (const [name, input] of Object.entries(inputs)) {
      input.value = state[name];
      input.closest("label").querySelector("output").textContent = written(name);
    }
    root.querySelectorAll("[name=matrix]").forEach(input => { input.checked = input.value === state.matrix; });
    moveCrosshair();
    panels.forEach(panel => drawPanel(panel, curves, view));
    say(view);
    showAttention(view);
    showNumbers(view);
  }

  function redraw() {
    drawMap();
    show();
  }

  for (const name of Object.keys(theory.tasks)) {
    const label = document.createElement("label"), {A} = theory.tasks[name];
    label.innerHTML = `<input type="radio" name="matrix" value="${name}"><span class="small-matrix">${
      A.flat().map(entry => `<span>${entry}</span>`).join(" ")}</span>`;
    part("controls").querySelector("fieldset").append(label);
    label.firstChild.addEventListener("change", () => { move({matrix: name}); redraw(); });
  }
  for (const [name, input] of Object.entries(inputs)) {
    Object.assign(input, SLIDERS[name]);
    input.addEventListener("input", () => move({[name]: input.value}));
  }
  for (const element of [map.node(), part("handle")])
    follow(element, map.node(), (left, top) => move({omega: drawn.x.invert(left), alpha: drawn.y.invert(top)}));
  window.addEventListener("hashchange", () => { if (fromAddress().has("omega")) { change(Object.fromEntries(fromAddress())); redraw(); } });

  root.hidden = false;
  let width = root.clientWidth;
  drawMap();
  change(Object.fromEntries(fromAddress()));
  new ResizeObserver(() => { if (root.clientWidth !== width) { width = root.clientWidth; redraw(); } }).observe(root);
})(window.explorerTheory);
