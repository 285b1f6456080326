/* "Guess, then see": how many of twenty students that start from small random weights find the deeper valley? They
   descend in a worker; the plane shows them on their way. */
"use strict";
(explorer => {
  const root = document.querySelector(".guess");
  if (!explorer || !root) return;
  const NAMES = ["semantic", "positional"], SETS = 20, DIMENSION = 200;
  const OPTIMISERS = {"gradient descent": {rate: 2, every: 5}, "L-BFGS": {every: 1}};
  const HEIGHT = 300, REACH = {m: [-0.1, 1.5], theta: [-0.06, 0.9]};  // of the plane: a ring around 0 lies inside
  const {state, view, verdict, written, withError} = explorer, theory = window.explorerTheory;
  const [question, tally] = ["question", "tally"].map(name => root.querySelector(`.guess-${name}`));
  const [guess, value, plane, optimiser] = ["input", "b", "svg", "select"].map(name => root.querySelector(name));
  const [roll, ask] = root.querySelectorAll("button");
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const work = inWorker({...window.explorerData, tasks: null});
  let place = {matrix: "standard", omega: 0.3, alpha: 2, asked: false}, run = null;

  const at = () => theory.at(theory.tasks[place.matrix], place.omega, place.alpha);

  /** The valley that is sought, and whether theory is sure that it is the deeper one of two. */
  const sought = () => {
    const {difference, winner} = at(), sure = Boolean(difference && Math.abs(difference.value) >= 2 * difference.error);
    return {sure, goal: sure || !difference ? winner : "semantic"};
  };

  function showQuestion() {
    const {sure, goal} = sought(), now = at(), [other] = NAMES.filter(kind => kind !== goal);
    const share = sure && 100 * Math.abs(now.difference.value) / now[other].train_loss.value;
    const lead = sure ? `the ${goal} valley is the deeper one, its training loss ${share.toFixed(1)}\u00a0% lower, in theory. `
      : now.difference ? "theory does not tell which valley is deeper. "
      : `theory has the ${goal} valley alone. `;
    question.textContent = `At ω = ${place.omega}, α = ${place.alpha}${place.matrix === "standard" ? "" : ", with the second A,"} ${lead
    }${SETS} students start from small random weights, each with sentences of its own, d = ${DIMENSION}. How many will end in the ${
      sure ? "deeper" : goal} valley by ${optimiser.value}?`;
  }

  /** Overlaps without their signs, as a point of the plane; valleys of theory are rings. */
  function draw() {
    const width = plane.parentNode.clientWidth, picture = d3.select(plane).attr("width", width).attr("height", HEIGHT);
    const x = d3.scaleLinear(REACH.m, [50, width - 14]), y = d3.scaleLinear(REACH.theta, [HEIGHT - 42, 10]);
    const axis = (turn, ruler) => picture.append("g").attr("class", "axis").attr("transform", turn)
      .call(ruler.ticks(5).tickSizeOuter(0));
    const text = (turn, words, kind = "label") => picture.append("text").attr("class", kind).attr("transform", turn).text(words);
    const dot = (kind, r, {m, theta}) => picture.append("circle").attr("class", kind).attr("r", r)
      .attr("cx", x(Math.abs(m))).attr("cy", y(Math.abs(theta)));
    picture.selectAll("*").remove();
    axis(`translate(0,${HEIGHT - 42})`, d3.axisBottom(x));
    axis("translate(50,0)", d3.axisLeft(y));
    text(`translate(${width / 2},${HEIGHT - 6})`, "overlap with the positions, m/σ²");
    text(`translate(12,${HEIGHT / 2 - 16})rotate(-90)`, "with the teacher, θ/σ²");
    for (const name of NAMES) {
      const minimum = at()[name];
      if (!minimum) continue;
      const [m, theta] = [minimum.m.value, minimum.theta.value];
      dot(`valley ${name}`, 14, {m, theta});
      text(`translate(${x(m) + (name === "semantic" ? 20 : 0)},${y(theta) - (name === "semantic" ? -5 : 56)})`,
           `${name} valley`, `named ${name}`);
    }
    for (const path of run?.paths ?? []) {
      const last = path.at(-1);
      if (!last || (still && !last.valley)) continue;
      if (!still) picture.append("path").attr("class", "trail")
        .attr("d", d3.line(({m}) => x(Math.abs(m)), ({theta}) => y(Math.abs(theta)))(path));
      dot(`ball ${last.valley ?? "rolling"}`, 4.5, last);
    }
  }

  function showTally(done) {
    const ends = run.paths.map(path => path.at(-1)?.valley).filter(Boolean), [strong, more] = tally.children;
    const [semantic, positional, neither, moving] = [...NAMES, "neither", "still moving"].map(name => ends.filter(end => end === name).length);
    const {sure, goal} = run.sought, found = goal === "semantic" ? semantic : positional;
    tally.ariaBusy = String(!done);  // read aloud at the end only
    roll.textContent = done ? "Let them roll" : "Stop";
    strong.textContent = done && ends.length === SETS ? `${found} of ${SETS}` : "";
    strong.className = goal;
    const [lone] = NAMES.filter(name => !at()[name] && (name === "semantic" ? semantic : positional));
    const unknown = lone ? ` Theory, at infinite d, has no ${lone} valley here. Each of these students came to rest close to the ${
      lone} minimum of its own sentences${lone === "positional" ? ", as in result 3 below" : ""}.` : "";
    more.textContent = !done ? `${ends.length} of ${SETS} have come to rest …` : ends.length < SETS
      ? `Stopped: ${ends.length} of ${SETS} had come to rest.`
      : `found the ${sure ? "deeper, " : ""}${goal} valley; you guessed ${run.guess}. By ${run.optimiser} at ω = ${run.omega}, α = ${run.alpha}, d = ${
        DIMENSION}: ${semantic} ended in the semantic valley, ${positional} in the positional one, ${neither} in neither${moving ? `, ${moving} were still moving` : ""}.${unknown}`;
    root.classList.toggle("answered", done && ends.length === SETS);
    document.querySelector(".guess-answer").classList.toggle("told", done && ends.length === SETS);
  }

  function start() {
    const {matrix, omega, alpha} = place;
    run = {matrix, omega, alpha, optimiser: optimiser.value, sought: sought(), guess: Number(guess.value), paths: Array.from({length: SETS}, () => [])};
    showTally(false);
    let drawing;
    const job = {task: {omega, A: theory.tasks[matrix].A}, d: DIMENSION, alpha, ...OPTIMISERS[optimiser.value],
                 seeds: run.paths.map((_, k) => 1000 * state.seed + k)};
    work("guesses", job, point => {
      if (point) run.paths[point.k].push(point);
      if (!point || point.valley) showTally(!point);
      drawing ||= requestAnimationFrame(() => { drawing = null; draw(); });
    });
  }

  guess.addEventListener("input", () => { value.textContent = guess.value; });
  root.addEventListener("submit", event => {
    event.preventDefault();
    if (roll.textContent !== "Stop") return start();
    work();
    showTally(true);
  });

  /** Forget the last run: the question is another one. */
  function askAnew() {
    [run, tally.children[0].textContent, tally.children[1].textContent, tally.ariaBusy] = [null, "", "", "false"];
    work();
    roll.textContent = "Let them roll";
    show();
  }

  optimiser.addEventListener("input", askAnew);
  ask.addEventListener("click", () => {
    place = {matrix: state.matrix, omega: Number(written("omega")), alpha: Number(written("alpha")), asked: true};
    askAnew();
  });

  /** Asked at the circle, the question is of where the circle was. Without a valley there is nothing to find. */
  function show() {
    const here = ["matrix", "omega", "alpha"].every(name => place[name] === state[name]), {winner} = view();
    root.classList.toggle("past", place.asked && !here);
    ask.disabled = here || !winner;
    ask.textContent = winner ? "Ask at the circle" : "No valley at the circle";
    showQuestion();
    draw();
  }

  value.textContent = guess.value;
  root.hidden = false;
  explorer.root.addEventListener("moved", show);
  new ResizeObserver(show).observe(root);
  show();
})(window.explorer);
