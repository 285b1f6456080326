/* "Train students here": in a worker, at the circle or along alpha; their dots join the explorer's panels. */
"use strict";
(explorer => {
  if (!explorer) return;
  const {root, state, task, view, verdict, move, show, written, withError} = explorer;
  const form = root.querySelector(".explorer-training form"), said = form.querySelector("output");
  const work = inWorker({...window.explorerData, tasks: null});
  // At d = 200 the difference of both losses on one data set is some 0.3e-3 from the mean, which therefore decides.
  const ALPHAS = Array.from({length: 10}, (_, i) => (i + 1) / 5), SETS = {circle: 20, sweep: 4};
  const FEWEST = 3;  // data sets that a comparison needs
  const buttons = [...form.querySelectorAll("button")], words = buttons.map(({innerHTML}) => innerHTML);
  let run = {rows: []};

  const chosen = (rows, start) => rows.filter(row => row.start === start);
  const byAlpha = () => [...new Set(run.rows.map(row => row.alpha))]
    .map(alpha => run.rows.filter(row => row.alpha === alpha));

  /** A dot for the panels: students of one alpha. */
  const dot = (kind, rows) => ({kind, alpha: rows[0].alpha, ...Object.fromEntries(
    ["train_loss", "test_mse", "theta", "m"].map(name => [name, measured(rows.map(row => row[name]))]))});

  const NAMES = ["semantic", "positional"];
  const stayed = (rows, name) => chosen(rows, name).filter(row => row.valley === name);
  const isHere = () => run.omega === state.omega && run.matrix === state.matrix;

  /** Rings: random starts. Dots: means of those from the teacher and the encoding that have not left their valley. */
  explorer.students = () => {
    said.classList.toggle("past", !isHere() || (run.train === "circle" && run.alpha !== state.alpha));
    return !isHere() ? [] : byAlpha().flatMap(rows => [
      ...chosen(rows, "random").map(row => dot(`random ${row.valley}`, [row])),
      ...NAMES.map(name => stayed(rows, name)).filter(some => some.length).map(some => dot(some[0].start, some))]);
  };

  /** By how much the semantic student has the lower loss, on each data set whose students both stayed in their valley. */
  const leads = rows => stayed(rows, "positional").flatMap(({seed, train_loss}) =>
    stayed(rows, "semantic").filter(row => row.seed === seed).map(row => train_loss - row.train_loss));

  /** Of these leads the mean, or null where they are too few, and who wins: nobody within one standard error. */
  function compare(rows) {
    const lead = leads(rows), mean = lead.length >= FEWEST ? measured(lead) : null;
    const name = !mean || Math.abs(mean.value) <= mean.error ? null : NAMES[mean.value > 0 ? 0 : 1];
    return {lead, mean, name};
  }

  /** Where the mean lead changes its sign along alpha, between two alphas that can be compared. */
  function crossing() {
    const gaps = byAlpha().map(rows => ({alpha: rows[0].alpha, ...compare(rows).mean})).filter(gap => gap.error);
    if (gaps.length < 2) return "Too few students stayed in both valleys to compare their losses. ";
    const last = gaps.findLastIndex(({value}) => value <= 0), [a, b] = gaps.slice(Math.max(last, 0), last + 2);
    if (last < 0 || !b) {
      const lower = Math.abs(a.value) <= a.error ? "neither kind of student has" : `${NAMES[a.value > 0 ? 0 : 1]} students have`;
      return `${last < 0 ? "Already" : "Even"} at α = ${a.alpha}, the ${last < 0 ? "first" : "last"} value that can be compared, ${lower} the lower mean loss. `;
    }
    const slope = (b.value - a.value) / (b.alpha - a.alpha), value = a.alpha - a.value / slope;
    const share = (value - a.alpha) / (b.alpha - a.alpha), error = Math.hypot((1 - share) * a.error, share * b.error);
    const theory = run.critical ? `they cross at ${withError(run.critical)}` : "they do not cross here";
    const small = run.critical ? "At small d the losses of students cross at a smaller α on average, and means over four data sets scatter. " : "";
    return `The mean losses of both students cross at α = ${withError({value, error: Math.abs(error / slope)})}. In theory, at infinite d, ${theory}. ${small}`;
  }

  const TOWARD = {semantic: "closer to the teacher", positional: "closer to the positions", zero: "at zero weights"};

  /** Which student has the lower loss, on the data sets that keep both; who ended elsewhere is counted apart. */
  function winner() {
    const {lead, mean, name} = compare(run.rows), total = SETS.circle;
    const gone = NAMES.flatMap(from => Object.keys(TOWARD).filter(end => end !== from).map(end =>
      [from, end, chosen(run.rows, from).filter(row => row.valley === end).length])).filter(([, , count]) => count);
    const left = gone.map(([from, end, count]) => `${count} of ${total} students with a ${from} start ended ${TOWARD[end]}. `).join("");
    const kept = lead.length < total ? `the ${lead.length} data sets that keep both students` : `${total} data sets`;
    if (!mean) return `${left}${lead.length || "No"} data set${lead.length === 1 ? " keeps" : "s keep"} both students, so there are too few to compare. `;
    if (!name) return `${left}On average over ${kept}, both losses are equal within the error. `;
    const wins = lead.filter(value => value * mean.value > 0).length;
    const by = withError({value: Math.abs(mean.value), error: mean.error}, 1e3);
    const other = run.winner === name ? "" : ` In theory, at infinite d: ${run.head}`;
    return `${left}The ${name} loss is lower by ${by} (in 10⁻³) on average over ${kept}, and it is lower on ${wins} of them.${other} `;
  }

  function report({rows, train, total, place}, done) {
    const random = chosen(rows, "random");
    const ended = {semantic: " ended in the semantic valley", positional: " in the positional valley", neither: " in neither valley",
                   "still moving": " were still moving", zero: " at zero weights"};
    const ends = Object.entries(ended).map(([end, words]) => [random.filter(row => row.valley === end).length, words])
      .filter(([count], i) => count || i < 2).map(([count, words]) => count + words).join(", ");
    const stuck = rows.filter(row => !row.converged).length;
    buttons.forEach((button, i) => { button.innerHTML = !done && button.value === train ? "Stop" : words[i]; });
    said.ariaBusy = String(!done);  // read aloud at the end only
    said.textContent = rows.length < total ? `${rows.length} of ${total} students${done ? ": stopped." : " …"}` : [
      `${place}: `, train === "sweep" ? crossing() : winner(),
      `Of ${random.length} students that L-BFGS trains from random weights, ${ends}.`,
      stuck ? ` ${stuck} of all students did not converge.` : "",
    ].join("");
  }

  function start(train) {
    const {omega, matrix, alpha, d, seed} = state;
    const cells = (train === "circle" ? [alpha] : ALPHAS).flatMap(alpha =>
      Array.from({length: SETS[train]}, (_, k) => ({alpha, seed: 1000 * seed + k})));
    const at = `At ω = ${written("omega")}${matrix === "standard" ? "" : ", with the second A"}, ${train === "circle" ? `α = ${written("alpha")}` : "along α"}, d = ${d}`;
    run = {train, omega, matrix, alpha, rows: [], total: 3 * cells.length, place: at, critical: view().critical, ...verdict(view())};
    report(run, false);
    show();
    let drawing;
    work("students", {task: {omega, A: task().A}, d, cells}, row => {
      if (row) run.rows.push(row);
      report(run, !row);
      drawing ||= requestAnimationFrame(() => { drawing = null; show(); });
    });
  }

  function startAsked() {
    if (!state.train) return;
    form.parentNode.open = true;
    start(state.train);
  }

  for (const button of buttons)
    button.addEventListener("click", () => {
      const stops = button.textContent === "Stop";
      move({train: stops ? "" : button.value});
      if (!stops) return startAsked();
      work();
      report(run, true);
    });
  form.addEventListener("submit", event => event.preventDefault());  // Enter sets the seed, as leaving its field does
  root.addEventListener("opened", startAsked);
  startAsked();
})(window.explorer);
