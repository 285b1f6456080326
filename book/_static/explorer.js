/* The explorer on the landing page: one state, moved by sliders, buttons, a pointer or keys on the map, and what it
   shows. Numbers come from explorer-theory.js; colours are classes, so that the theme's button needs no redrawing. */
"use strict";
(theory => {
  const NAMES = ["semantic", "positional"];
  const LIMITS = {
    omega: {min: 0.02, max: 0.5, step: 0.005, digits: 3}, alpha: {min: 0.02, max: 2, step: 0.01, digits: 2},
    d: {min: 100, max: 400, step: 50, digits: 0}, seed: {min: 1, max: 999, step: 1},
  };
  const START = {matrix: "standard", omega: 0.3, alpha: 1, d: 200, seed: 1, train: ""};
  const SHADES = [1e-4, 3e-4, 1e-3];  // differences of the two training losses
  const WORDS = [["semantic", 0.12, 1.85], ["positional", 0.38, 0.3]];  // where no curve crosses "semantic wins"
  const PANELS = [
    {title: "training loss <i>ε<sub>t</sub></i>, 10⁻³", scale: 1e3, quantity: "train_loss"},
    {title: "test error <i>ε<sub>g</sub></i>, 10⁻³", scale: 1e3, quantity: "test_mse", linear: true},
    {title: "overlap with the teacher, <i>θ</i>/<i>σ</i>²", scale: 1, quantity: "theta"},
    {title: "overlap with the positions, <i>m</i>/<i>σ</i>²", scale: 1, quantity: "m"},
  ];
  const SETTLED = 400;  // milliseconds after the last move

  const root = document.querySelector(".explorer:not(.hint)");
  if (!root) return;
  const part = name => root.querySelector(`.explorer-${name}`);
  const inputs = Object.fromEntries(Object.keys(LIMITS).map(name => [name, root.querySelector(`[name=${name}]`)]));
  const state = {...START};
  let touched = false;  // by hand
  const task = () => theory.tasks[state.matrix];
  const view = () => theory.at(task(), state.omega, state.alpha);
  const fixed = (value, digits) => value.toFixed(digits).replace("-", "−");
  const written = name => fixed(state[name], LIMITS[name].digits).replace(/(\.\d\d)0$/, "$1");

  /** A number with its error, to two digits of an error that begins with 1 or 2, else to one. */
  function withError({value, error}, scale = 1) {
    const power = Math.log10(error * scale), leading = 10 ** (power - Math.floor(power));
    const digits = Math.max(0, (leading < 2.95 ? 1 : 0) - Math.floor(power));
    if (!error) return (value * scale).toPrecision(4);
    if (digits > 5) return fixed(value * scale, 5);
    return `${fixed(value * scale, digits)} ± ${fixed(error * scale, digits)}`;
  }

  // State ------------------------------------------------------------------------------------------------------------

  /** Take new values, as far as they are allowed, and show them. */
  function move(values) {
    const {omega, matrix} = state;
    for (const [name, value] of Object.entries(values)) {
      const limits = LIMITS[name], number = parseFloat(value);  // which is none of an empty text
      if (limits && Number.isFinite(number)) {
        const steps = Math.round((Math.min(Math.max(number, limits.min), limits.max) - limits.min) / limits.step);
        state[name] = Number((limits.min + steps * limits.step).toFixed(6));
      }
      if (name === "matrix" && theory.tasks[value]) state.matrix = value;
      if (name === "train" && ["", "circle", "sweep"].includes(value)) state.train = value;
    }
    if (!("train" in values) && (state.omega !== omega || state.matrix !== matrix)) state.train = "";
    if (state.matrix !== matrix) drawMap();
    show();
  }

  function byHand(values) {
    touched = true;
    move(values);
  }

  /** The address of this view. */
  function address() {
    const shown = Object.entries(state).filter(([name, value]) => /omega|alpha/.test(name) || value !== START[name]);
    return location.href.replace(/#.*|$/, `#${new URLSearchParams(shown)}`);
  }

  /** Go to the view that an address names. */
  function open(url) {
    move({...START, ...Object.fromEntries(new URLSearchParams(new URL(url).hash.slice(1)))});
    root.dispatchEvent(new Event("opened"));
  }

  /** Move along alpha in small steps, so that one sees what changes. */
  function glide(alpha) {
    const from = state.alpha, began = performance.now();
    const duration = matchMedia("(prefers-reduced-motion: reduce)").matches ? 1 : 700;
    requestAnimationFrame(function step(now) {
      const share = Math.min(1, Math.max(0, now - began) / duration);
      byHand({alpha: from + share * (alpha - from)});
      if (share < 1) requestAnimationFrame(step);
    });
  }

  // Words ------------------------------------------------------------------------------------------------------------

  function whyNone(name) {
    const within = theory.range(task(), name, state.omega), [last, next] = theory.lastOmegas(task(), name);
    if (!within) return `the ${name} valley ends between ω = ${fixed(last, 2)} and ${fixed(next, 2)}`;
    const [verb, where] = state.alpha < within.from ? ["begins", within.from] : ["ended", within.to];
    return `the ${name} valley ${verb} at α = ${fixed(where, 2)}`;
  }

  /** The result as plain text, {head, rest}, and the `winner` that it names, none where theory has no valley or a tie. */
  function verdict({winner, difference, baseline, ...students}) {
    const place = `At ω = ${written("omega")}, α = ${written("alpha")}`;
    if (!winner) return {head: "No valley.", rest: `${place} theory has neither valley, because ${NAMES.map(whyNone).join(" and ")}.`};
    const other = NAMES.find(name => name !== winner), lag = theory.minus(students[winner].test_mse, baseline);
    const sure = Math.abs(lag.value) >= 2 * lag.error;
    const [joined, than] = !sure ? ["It", "as well as"] : lag.value < 0 ? ["It also", "better than"] : ["But it", "worse than"];
    const predicts = `predicts new sentences ${than} the linear model${sure ? "" : ", within two standard errors"}.`;
    if (!difference)
      return {winner, head: `Only the ${winner} student.`, rest: `${place} theory has only this valley, because ${whyNone(other)}. The ${winner} student ${predicts}`};
    const value = Math.abs(difference.value), share = 100 * value / students[other].train_loss.value;
    if (value < 2 * difference.error)
      return {head: "A tie.", rest: `${place} the training losses differ by less than two standard errors.`};
    return {
      winner, head: `The ${winner} student wins: its training loss is ${fixed(share, share < 1 ? 2 : 1)}\u00a0% lower.`,
      rest: `${place} the difference is ${withError({...difference, value}, 1e3)} (in 10⁻³). ${joined} ${predicts}`,
    };
  }

  let settling;

  /** The verdict at once; for those who listen, and in the address, when the point has come to rest. */
  function say(view) {
    const {head, rest, winner = ""} = verdict(view), [strong, {children: [more, linked]}] = part("verdict").children;
    [strong.textContent, more.textContent] = [head, rest.replace(linked.textContent, "")];
    linked.hidden = more.textContent === rest;
    strong.className = winner;
    root.dataset.winner = winner;  // whose words are shown
    part("words").querySelector("figcaption").textContent = winner ? "" : `${head} No student is the best one.`;
    clearTimeout(settling);
    settling = setTimeout(() => {
      part("said").textContent = `${head} ${rest}`;
      if (touched) history.replaceState(null, "", address());
    }, SETTLED);
  }

  // Map --------------------------------------------------------------------------------------------------------------

  /** Empty a drawing and give it two axes; returns a function that adds a path. */
  function frame(svg, width, height, x, y, ticks) {
    svg.attr("width", width).attr("height", height).selectAll(":scope > :not(defs)").remove();
    const axis = (kind, count, left, top) => svg.append("g").attr("class", "axis")
      .attr("transform", `translate(${left},${top})`).call(kind.ticks(count).tickSizeOuter(0));
    axis(d3.axisBottom(x), ticks[0], 0, y.range()[0]);
    axis(d3.axisLeft(y), ticks[1], x.range()[0], 0);
    return (kind, d) => svg.append("path").attr("class", kind).attr("d", d);
  }

  const map = d3.select(part("map")).select("svg");
  const scales = {};  // of the map as it stands

  /** What theory has at each omega of the slider. `wins`, `alone`: between which alpha each student does or is. */
  function columns() {
    const {min, max, step} = LIMITS.omega;
    return Array.from({length: Math.round((max - min) / step) + 1}, (_, i) => {
      const omega = min + i * step, [s, p] = NAMES.map(name => theory.range(task(), name, omega));
      const [critical, linear] = [theory.along(task().critical, omega), theory.linear(task(), omega)].map(at => at?.value);
      const both = s && p && [s.from, p.to];
      // Where alpha_c is not stored, its side is read off the losses.
      const sought = both && (critical ?? (theory.gap(task(), omega, p.to) < 0 ? s.from : p.to));
      const turn = both && Math.min(Math.max(sought, s.from), p.to);
      return {
        omega, both, critical, linear, semantic: s?.from, positional: p?.from,
        ends: p?.ended && omega <= task().ends.positional.last + 1e-6 ? p.to : undefined,
        wins: {semantic: s && [turn ?? s.from, s.to], positional: p && [p.from, turn ?? p.to]},
        alone: {semantic: s && [p?.to ?? s.from, s.to], positional: p && [p.from, s?.from ?? p.to]},
      };
    });
  }

  function drawMap() {
    const width = part("map").clientWidth, height = Math.round(Math.max(250, Math.min(0.75 * width, 310)));
    const x = d3.scaleLinear([LIMITS.omega.min, LIMITS.omega.max], [44, width - 10]);
    const y = d3.scaleLinear([LIMITS.alpha.min, LIMITS.alpha.max], [height - 40, 8]).clamp(true);
    const draw = frame(map, width, height, x, y, [6, 5]), all = columns();
    Object.assign(scales, {x, y});
    const area = of => d3.area(c => x(c.omega), c => y(of(c)[0]), c => y(of(c)[1])).defined(of)(all);
    const beyond = y.copy().clamp(false);  // a line leaves the map at its edge
    const curve = of => d3.line(c => x(c.omega), c => beyond(of(c))).defined(of)(all);
    const line = (kind, of) => draw(kind, curve(of)).attr("clip-path", "url(#explorer-frame)");
    map.select("#explorer-both path").attr("d", area(c => c.both));
    map.select("#explorer-frame path").attr("d", `M44 8H${width - 10}V${height - 40}H44Z`);
    for (const name of NAMES) {
      draw(`region ${name}`, area(c => c.wins[name]));
      for (const d of shades(name, all)) draw(`region ${name}`, d).attr("clip-path", "url(#explorer-both)");
      draw("alone", area(c => c.alone[name]));
      const [last, next] = theory.lastOmegas(task(), name), {from, to} = theory.range(task(), name, last);
      const beyond = `M${x(last)} ${y(from)}H${x(next)}V${y(to)}H${x(last)}`;  // it ends somewhere there
      if (next <= LIMITS.omega.max) draw(`region half ${name}`, beyond);
      line(`border ${name}`, c => c[name]);
    }
    line("border positional", c => c.ends);
    line("critical", c => c.critical);
    line("linear", c => c.linear);
    const text = (kind, words, left, top, turn = "") => map.append("text").attr("class", kind)
      .attr("transform", `translate(${left},${top})${turn}`).text(words);
    text("label", "positional share of the teacher ω", width / 2, height - 6);
    text("label", "sentences per dimension α", 12, height / 2 - 10, "rotate(-90)");
    draw("crosshair");
    for (const [name, omega, alpha] of WORDS)
      if (theory.at(task(), omega, alpha).winner === name) text("wins", `${name} wins`, x(omega), y(alpha));
  }

  /** Where a student's loss is lower by more than each of `SHADES`: contours over a grid. */
  function shades(name, all) {
    const {min, max} = LIMITS.alpha, rows = 41, step = (max - min) / (rows - 1), sign = name === "semantic" ? -1 : 1;
    const values = Array.from({length: rows}, (_, j) => min + j * step).flatMap(alpha => all.map(({omega, both}) =>
      both && alpha > both[0] - step && alpha < both[1] + step ? sign * theory.gap(task(), omega, alpha) : -1));
    const point = ([i, j]) =>
      [scales.x(all[0].omega + (i - 0.5) * LIMITS.omega.step), scales.y(min + (j - 0.5) * step)];
    return d3.contours().size([all.length, rows]).thresholds(SHADES)(values)
      .map(({coordinates}) => coordinates.flat().map(ring => `M${ring.map(point).join("L")}Z`).join(""));
  }

  /** While the pointer is down on an element, the point of the drawing under it counts; a tap or click does too. A
      finger beside the handle may mean to scroll: it counts as soon as it moves sideways. */
  function follow(element, svg, moved) {
    let from, steers;
    const report = event => {
      const box = svg.getBoundingClientRect();
      moved(event.clientX - box.left, event.clientY - box.top);
    };
    element.addEventListener("pointerdown", event => {
      element.setPointerCapture(event.pointerId);
      [from, steers] = [event, event.pointerType !== "touch" || element !== svg];
    });
    element.addEventListener("pointermove", event => {
      if (!element.hasPointerCapture(event.pointerId)) return;
      steers ||= Math.abs(event.clientX - from.clientX) > Math.abs(event.clientY - from.clientY);
      if (steers) report(event);
    });
    element.addEventListener("click", report);
  }

  // Panels along alpha -----------------------------------------------------------------------------------------------

  const panels = PANELS.map(({title, ...panel}) => {
    const figure = document.createElement("div"), plain = title.replace(/<[^>]*>/g, "");
    figure.innerHTML = `<p>${title}</p><svg role="img" aria-label="Along alpha: ${plain}, of both students"></svg>`;
    part("panels").append(figure);
    const svg = figure.querySelector("svg"), shown = {...panel, figure, svg: d3.select(svg), x: null};
    follow(svg, svg, left => byHand({alpha: shown.x.invert(left)}));
    return shown;
  });

  /** A branch at this omega, sampled along alpha. */
  function samples(name) {
    const within = theory.range(task(), name, state.omega);
    if (!within) return [];
    return Array.from({length: 61}, (_, i) => within.from + i / 60 * (within.to - within.from))
      .map(alpha => ({alpha, ...theory.at(task(), state.omega, alpha)[name]})).filter(point => point.train_loss);
  }

  function drawPanel({figure, svg, quantity, scale, linear}, curves, view) {
    const width = figure.clientWidth, height = scale > 1 ? 160 : 120;
    if (!width) return null;  // folded
    const low = ({[quantity]: {value, error, low}}) => scale * (low ?? value - error);
    const high = ({[quantity]: {value, error, high}}) => scale * (high ?? value + error);
    const drawn = Object.values(curves).flat(), students = window.explorer.students();
    const top = Math.max(linear ? scale * view.baseline.value : 0, ...(drawn.length ? drawn : students).map(high));
    const x = d3.scaleLinear([0, LIMITS.alpha.max], [38, width - 10]);
    const bottom = Math.min(0, ...students.map(low));
    const y = d3.scaleLinear([bottom, top > 0.01 ? 1.06 * top : 1], [height - 22, 6]);
    const draw = frame(svg, width, height, x, y, [5, 4]), upright = alpha => `M${x(alpha)} 6V${height - 22}`;
    const dot = (kind, r, alpha, value) => svg.append("circle").attr("class", kind).attr("r", r)
      .attr("cx", x(alpha)).attr("cy", y(scale * value));
    if (view.critical?.value <= LIMITS.alpha.max) draw("critical", upright(view.critical.value));
    if (linear && view.linear?.value <= LIMITS.alpha.max) draw("linear", upright(view.linear.value));
    if (linear) draw("linear", `M38 ${y(scale * view.baseline.value)}H${width - 10}`);
    for (const [name, curve] of Object.entries(curves)) {
      draw(`band ${name}`, d3.area(p => x(p.alpha), p => y(low(p)), p => y(high(p)))(curve));
      draw(`curve ${name}`, d3.line(p => x(p.alpha), p => y(scale * p[quantity].value))(curve));
    }
    for (const student of students) {
      if (scale * student[quantity].value > y.domain()[1]) {
        const left = x(student.alpha);
        draw(`above ${student.kind}`, `M${left} 6L${left - 4} 12L${left + 4} 12Z`);
        continue;
      }
      draw(`curve ${student.kind}`, `M${x(student.alpha)} ${y(low(student))}V${Math.max(y(high(student)), 0)}`);
      dot(`student ${student.kind}`, 3, student.alpha, student[quantity].value);
    }
    draw("crosshair", upright(state.alpha));
    for (const name of NAMES) if (view[name]) dot(`dot ${name}`, 4, state.alpha, view[name][quantity].value);
    return x;
  }

  // All of it --------------------------------------------------------------------------------------------------------

  function showNumbers(view) {
    const rows = [["training loss, 10⁻³", "train_loss", 1e3], ["test error, 10⁻³", "test_mse", 1e3],
                  ["<i>θ</i>/<i>σ</i>²", "theta", 1], ["<i>m</i>/<i>σ</i>²", "m", 1]];
    const cell = (key, scale) => name => {
      const {value, error} = view[name]?.[key] ?? {};
      return value === undefined ? "<td>no valley</td>" : `<td data-name="${name} ${key}" data-value="${value}"
        data-error="${error}">${withError({value, error}, scale)}</td>`;
    };
    const plain = key => name => `<td>${view[name] ? fixed(1e3 * view[name][key], 2) : "no valley"}</td>`;
    const row = (head, cells) => `<tr><th scope="row">${head}</th>${NAMES.map(cells).join("")}</tr>`;
    part("numbers").querySelector("tbody").innerHTML = rows.map(([head, ...what]) => row(head, cell(...what))).join("")
      + row("ridge penalty, 10⁻³", plain("ridge")) + row("misfit of a training sentence, 10⁻³", plain("misfit"));
    const thresholds = [["c", view.critical], ["l", view.linear]].filter(([, threshold]) => threshold)
      .map(([letter, threshold]) => `<i>α<sub>${letter}</sub></i> = ${withError(threshold)}. `);
    part("numbers").querySelector("span").innerHTML =
      `Linear model: test error ${withError(view.baseline, 1e3)} (in 10⁻³). ${thresholds.join("")}`;
  }

  /** Where the buttons below the map lead: along alpha at this omega, from which threshold and how far. */
  const PRESETS = {below: ["critical", -0.05], above: ["critical", 0.05], beyond: ["linear", 0.1]};
  const words = Object.fromEntries([...part("presets").children].map(({value, innerHTML}) => [value, innerHTML]));

  /** A button that leads nowhere says why. */
  function showPresets(view) {
    for (const button of part("presets").children) {
      const [threshold, by] = PRESETS[button.value], alpha = view[threshold]?.value;
      button.disabled = !(alpha + Math.min(by, 0) < LIMITS.alpha.max);
      button.innerHTML = words[button.value].replace(/^\w+/, word => button.disabled ? "No" : word)
        + (button.disabled ? ` up to ${LIMITS.alpha.max}` : "");
      button.onclick = () => glide(Math.min(alpha + by, LIMITS.alpha.max));
    }
  }

  function show() {
    const now = view(), curves = Object.fromEntries(NAMES.map(name => [name, samples(name)]));
    for (const [name, input] of Object.entries(inputs)) {
      input.value = state[name];
      input.labels[0].querySelector("b")?.replaceChildren(written(name));
    }
    for (const input of root.querySelectorAll("[name=matrix]")) input.checked = input.value === state.matrix;
    showPresets(now);
    const [left, top] = [scales.x(state.omega), scales.y(state.alpha)];
    map.select(".crosshair").attr("d", `M${left} 8V${scales.y.range()[0]}M44 ${top}H${scales.x.range()[1]}`);
    part("handle").style.translate = `${left}px ${top}px`;
    part("handle").ariaValueNow = state.alpha;
    part("handle").ariaValueText = `ω = ${written("omega")}, α = ${written("alpha")}`;
    for (const panel of panels) panel.x = drawPanel(panel, curves, now);
    say(now);
    showNumbers(now);
    root.dispatchEvent(new Event("moved"));
  }

  for (const [name, {A}] of Object.entries(theory.tasks)) {
    const label = document.createElement("label"), entries = A.flat().map(entry => `<span>${entry}</span>`).join(" ");
    label.innerHTML = `<input type="radio" name="matrix" value="${name}"><span class="small-matrix">${entries}</span>`;
    root.querySelector("fieldset").append(label);
    label.firstChild.addEventListener("change", () => byHand({matrix: name}));
  }
  for (const [name, input] of Object.entries(inputs)) {
    Object.assign(input, LIMITS[name]);
    if (input.type === "number") input.before(`${input.min}–${input.max} `);
    input.addEventListener(input.type === "range" ? "input" : "change", () => byHand({[name]: input.value}));
  }
  for (const element of [map.node(), part("handle")])
    follow(element, map.node(), (left, top) => byHand({omega: scales.x.invert(left), alpha: scales.y.invert(top)}));
  part("handle").addEventListener("keydown", event => {
    const [, side] = event.key.match(/^(?:Arrow|Page)(.*)/) ?? [], name = /Left|Right/.test(side) ? "omega" : "alpha";
    const end = {Home: LIMITS.alpha.min, End: LIMITS.alpha.max}[event.key];
    if (!side && !end) return;
    event.preventDefault();
    if (end) byHand({alpha: end});
    else byHand({[name]: state[name] + (/Right|Up/.test(side) ? 1 : -1) * (event.shiftKey || /^Page/.test(event.key) ? 10 : 1) * LIMITS[name].step});
  });
  async function copy(button, link) {
    try {
      await navigator.clipboard.writeText(link);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy link"; }, 3000);
    } catch {  // a page on plain http, or no permission
      prompt("The browser does not allow this page to copy. This is the link:", link);
    }
  }

  part("copy").addEventListener("click", () => copy(part("copy"), address()));
  window.addEventListener("hashchange", ({newURL}) => newURL.includes("omega=") && open(newURL));

  root.classList.remove("still");
  part("along").open = root.clientWidth > 600;
  part("along").addEventListener("toggle", () => show());
  window.explorer = {root, state, task, view, verdict, move: byHand, show, written, withError, follow, copy, students: () => []};
  drawMap();
  open(location.href);
  if (/#.*omega=(?!.*hint=)/.test(location.href)) root.scrollIntoView();  // a link to a place on the map, not to the picture above
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    drawMap();
    show();
  }).observe(root);
})(window.explorerTheory);
