/* The picture of the landing page: twenty students roll down over both valleys of the training loss, and the reader moves
   their start towards the teacher. `hint.html` has the picture as it is drawn of a start without a hint. */
"use strict";
(explorer => {
  const root = document.querySelector(".hint");
  if (!explorer || !root) return;
  const SETS = 20, DIMENSION = 200, FEWEST = 3;  // data sets that an average needs
  const WAYS = {gd: {rate: 2, every: 5}, lbfgs: {every: 1}};
  const ENDS = {semantic: "semantic", positional: "positional", neither: "neither", "still moving": "still moving", zero: "shrunk to zero"};
  const SHARES = Array.from({length: 33}, (_, i) => (i - 16) / 8);  // of both minima, with their mirror images
  const STEPS = {ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10, Home: -100, End: 100};  // hundredths
  const SETTLED = 300;  // milliseconds after the last move
  const {state, withError, follow, copy} = explorer, theory = window.explorerTheory;
  const [picture, handle, select, button, tally] = [".hint-plane svg", ".hint-handle", "select", "button", ".hint-tally"]
    .map(name => root.querySelector(name));
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const [compute, roll] = [inWorker({...window.explorerData, tasks: null}), inWorker({...window.explorerData, tasks: null})];
  const x = d3.scaleLinear([-1.6, 1.6], [42, 394]).clamp(true), y = d3.scaleLinear([-1, 1.2], [314, 6]).clamp(true);
  let place = {matrix: "standard", omega: 0.3, alpha: 2, seed: 1}, hint = 0, drawn = Boolean(root.querySelector(".depth"));  // as `hint.html` has it
  let surfaces = [], paths = [], settling;

  const task = () => ({omega: place.omega, A: theory.tasks[place.matrix].A});
  const seeds = () => Array.from({length: SETS}, (_, k) => 1000 * place.seed + k);
  const at = () => `ω = ${place.omega}, α = ${place.alpha}, d = ${DIMENSION}${place.matrix === "standard" ? "" : ", second A"}`;
  const from = () => hint ? `a hint of ${hint.toFixed(2)}` : "no hint";
  const way = () => select.selectedOptions[0].textContent;

  /** Empty a layer of the picture; returns functions that add a path, a circle and words to it. */
  function layer(name) {
    const group = d3.select(picture).select(`.${name}`);
    group.selectAll("*").remove();
    return {
      group,
      line: (kind, d) => group.append("path").attr("class", kind).attr("d", d),
      dot: (kind, r, left, top) => group.append("circle").attr("class", kind).attr("r", r).attr("cx", left.toFixed(1)).attr("cy", top.toFixed(1)),
      text: (kind, left, top, words) => group.append("text").attr("class", kind).attr("x", left).attr("y", top).text(words),
    };
  }

  function drawTerrain() {
    const {group, line, text} = layer("terrain"), names = layer("names").text, kept = surfaces.filter(({stayed}) => stayed);
    const axis = (turn, ruler) => group.append("g").attr("class", "axis").attr("transform", turn).call(ruler.ticks(5).tickSizeOuter(0));
    root.dataset.deeper = "";
    if (kept.length >= FEWEST) {
      const {losses, minima} = meanSurface(kept), lead = measured(kept.map(({minima: [p, s]}) => p.loss - s.loss));
      const [, ...rings] = outlines({losses, minima}, SHARES, x.copy().clamp(false), y.copy().clamp(false), 0.3);
      for (const ring of ["M42 6H394V314H42Z", ...rings])  // the first is the edge of what is computed
        line("depth", ring).attr("clip-path", "url(#hint-frame)");
      if (Math.abs(lead.value) >= 2 * lead.error) root.dataset.deeper = lead.value > 0 ? "semantic" : "positional";
      ["positional", "semantic"].forEach((name, k) => {
        const depth = withError(measured(kept.map(surface => surface.minima[k].loss)), 1e3);
        const [left, top] = name === "semantic" ? [x(0) + 46, Math.max(y(minima[1].theta) - 4, 86)] : [x(minima[0].m), y(0) + 40];
        names(`valley ${name}`, left, top, `${name} valley`);
        names(`valley ${name}`, left, top + 14, depth);
        const mirror = name === "semantic" ? [x(0) - 24, Math.min(y(-minima[1].theta) + 4, 254)] : [x(-minima[0].m), y(0) - 34];
        names(`mirror ${name}`, ...mirror, "mirror image");
      });
    }
    names("teacher", x(0), y(1) - 16, "the teacher");
    axis("translate(0,314)", d3.axisBottom(x));
    axis("translate(42,0)", d3.axisLeft(y));
    text("label", 218, 346, "overlap with the positions m/σ²");
    text("label", 0, 0, "overlap with the teacher θ/σ²").attr("transform", "translate(10,146)rotate(-90)");
    text("note", 48, 280, at().replace(", second A", ""));
    if (place.matrix !== "standard") text("note", 48, 266, "second A");
    if (kept.length < FEWEST) {
      if (surfaces.length === SETS) ["no terrain: too few", "data sets have both minima"].forEach((words, k) => text("note", 48, 294 + 14 * k, words));
      return;
    }
    text("note", 48, 294, "training loss, in 10⁻³:");
    text("note", 48, 308, `mean of ${kept.length} data sets`);
  }

  function drawStudents() {
    const {line, dot, text} = layer("rolled");
    for (const path of paths) {
      const last = path.at(-1);
      if (!last || (still && !last.valley)) continue;
      if (!still) line("trail", d3.line(({m}) => x(m).toFixed(1), ({theta}) => y(theta).toFixed(1))(path));
      dot(`ball ${last.valley ?? "still moving"}`, 4, x(last.m), y(last.theta));
    }
    line("rail", `M${x(0)} ${y(hint)}V${y(1)}`);
    dot("start", 8, x(0), y(hint));
    if (hint < 0.5) text("below", x(0), y(hint) + 24, from());  // on the hill, where students rarely end
    else text("from", x(0) - 28, y(hint) + 4, from());
    handle.style.top = `${100 * y(hint) / 350}%`;
    Object.assign(handle, {ariaValueNow: hint, ariaValueText: from()});
  }

  /** How many ended where: in the picture, where it is also the key of the colours, and at the end in a sentence. */
  function showTally(done) {
    const ends = paths.map(path => path.at(-1)?.valley).filter(Boolean), {text, dot} = layer("said");
    const count = Object.fromEntries(Object.keys(ENDS).map(end => [end, ends.filter(other => other === end).length]));
    count["still moving"] += paths.length - ends.length;
    const {deeper} = root.dataset, goal = deeper || "semantic";
    if (hint < 0.8) {  // there the words beside the ring need the place
      text("instruction strong", 48, 24, "Drag the ring up");
      text("instruction", 48, 40, "to give a hint");
    }
    if (paths.length) {
      text(`found ${done ? goal : ""}`, 388, 32, done ? `${count[goal]} of ${SETS}` : `${ends.length} of ${SETS}`);
      text("result", 388, 50, done ? deeper ? "reach the deeper valley" : `reach the ${goal} valley` : "have come to rest");
      text("result", 388, 64, `by ${way()}`);
    }
    Object.entries(ENDS).forEach(([end, words], i) => {
      dot(`ball ${end}`, 4, 274, 246 + 15 * i);
      text("count", 298, 250 + 15 * i, paths.length ? count[end] : "");
      text("end", 304, 250 + 15 * i, words);
    });
    tally.ariaBusy = String(!done);  // read aloud at the end only
    if (!done || !paths.length) return;
    const now = theory.at(theory.tasks[place.matrix], place.omega, place.alpha);
    const [lone] = ["semantic", "positional"].filter(name => !now[name] && count[name]);
    const others = Object.entries(ENDS).slice(2).filter(([end]) => count[end]).map(([end, words]) => `${count[end]} ${end === "neither" ? "in neither valley" : words}`);
    tally.textContent = `By ${way()} with ${from()}, ${count.semantic} of ${SETS} students end in the semantic valley and ${
      count.positional} in the positional valley (${at()}).${others.length ? ` The others: ${others.join(", ")}.` : ""}${
      lone ? ` Theory, at infinite d, has no ${lone} valley here. Each of these students came to rest close to the ${
      lone} minimum of its own training loss.` : ""}`;
  }

  /** The address of this picture. */
  function address() {
    const {matrix, omega, alpha, seed} = place, rest = {...(matrix !== "standard" && {matrix}), ...(seed !== 1 && {seed})};
    return location.href.replace(/#.*|$/, `#${new URLSearchParams({omega, alpha, ...rest, hint, way: select.value})}`);
  }

  /** Let them roll; where the picture has another place, or none, over the losses there. */
  function start() {
    const job = {task: task(), d: DIMENSION, seeds: seeds()};
    let drawing;
    const later = draw => { drawing ||= requestAnimationFrame(() => { drawing = null; draw(); }); };
    if (!drawn) {
      [drawn, surfaces] = [true, []];
      compute("planes", {...job, alphas: [place.alpha], shares: SHARES}, surface => {
        if (surface) surfaces.push(surface);
        else showTally(paths.every(path => path.at(-1)?.valley));
        drawTerrain();
      });
    }
    history.replaceState(null, "", address());
    paths = seeds().map(() => []);
    showTally(false);
    roll("rolls", {...job, alpha: place.alpha, hint, ...WAYS[select.value]}, point => {
      if (point) paths[point.k].push(point);
      later(() => { drawStudents(); showTally(paths.every(path => path.at(-1)?.valley)); });
    });
  }

  /** Another question: the students wait at their start until nothing has moved for a while. */
  function ask() {
    roll();
    [paths, tally.textContent] = [[], ""];
    if (!drawn) drawTerrain();
    drawStudents();
    showTally(true);
    clearTimeout(settling);
    settling = setTimeout(start, SETTLED);
  }

  function move(value) {
    hint = Math.round(100 * Math.min(Math.max(value, 0), 1)) / 100;
    ask();
  }

  /** Go to the explorer's place. */
  function go() {
    const {matrix, omega, alpha, seed} = state, next = {matrix, omega, alpha, seed};
    if (Object.keys(next).some(name => next[name] !== place[name])) [place, drawn, surfaces] = [next, false, []];
    ask();
  }

  /** Show what an address names. */
  function open() {
    const {hint: asked, way} = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    if (asked === undefined) return;
    if (WAYS[way]) select.value = way;
    hint = Math.round(100 * Math.min(Math.max(parseFloat(asked) || 0, 0), 1)) / 100;
    go();
  }

  for (const element of [picture, handle])
    follow(element, picture, (left, top) => move(y.invert(350 * top / picture.clientHeight)));
  handle.addEventListener("keydown", event => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    move(hint + step * (event.shiftKey ? 10 : 1) / 100);
  });
  select.addEventListener("input", ask);
  button.addEventListener("click", () => copy(button, address()));
  explorer.root.querySelector(".explorer-roll").addEventListener("click", () => {
    go();
    root.scrollIntoView({block: "center"});
  });
  explorer.root.addEventListener("opened", open);
  root.classList.remove("waits");
  open();
})(window.explorer);
