/* "Train students here": in a worker, at the circle or along alpha; their dots join the explorer's panels. */
"use strict";
(explorer => {
  if (!explorer) return;
  const {root, state, task, move, show, withError} = explorer;
  const form = root.querySelector(".explorer-training"), said = form.querySelector("output");
  const work = inWorker({...window.explorerData, tasks: null});
  // At d = 200 the difference of both losses on one data set is some 0.3e-3 from the mean, which therefore decides.
  const ALPHAS = Array.from({length: 10}, (_, i) => (i + 1) / 5), SETS = {circle: 20, sweep: 4};
  const buttons = [...form.querySelectorAll("button")], words = buttons.map(({innerHTML}) => innerHTML);
  let run = {rows: []};

  const chosen = (rows, start) => rows.filter(row => row.start === start);
  const byAlpha = () => [...new Set(run.rows.map(row => row.alpha))]
    .map(alpha => run.rows.filter(row => row.alpha === alpha));

  /** A dot for the panels: students of one alpha. */
  const dot = (kind, rows) => ({kind, alpha: rows[0].alpha, ...Object.fromEntries(
    ["train_loss", "test_mse", "theta", "m"].map(name => [name, measured(rows.map(row => row[name]))]))});

  /** Rings: random starts. Dots: means of those from the teacher and the encoding that have not left their valley. */
  explorer.students = () => {
    const ofThisTask = run.omega === state.omega && run.matrix === state.matrix;
    said.style.visibility = ofThisTask ? "visible" : "hidden";
    return !ofThisTask ? [] : byAlpha().flatMap(rows => {
      const stayed = ["semantic", "positional"].map(name => chosen(rows, name).filter(row => row.valley === name));
      return [...chosen(rows, "random").map(row => dot(`random ${row.valley}`, [row])),
              ...stayed.filter(some => some.length).map(some => dot(some[0].start, some))];
    });
  };

  /** Of each data set, by how much the student from the teacher has the lower loss than the one from the encoding. */
  const leads = rows => chosen(rows, "positional")
    .map((row, k) => row.train_loss - chosen(rows, "semantic")[k].train_loss);

  /** Where the mean of these last changes its sign. */
  function crossing() {
    const gaps = byAlpha().map(rows => ({alpha: rows[0].alpha, ...measured(leads(rows).map(lead => -lead))}));
    const last = gaps.findLastIndex(({value}) => value >= 0), [a, b] = gaps.slice(last, last + 2);
    if (!b) return `At the largest α ${last < 0 ? "semantic" : "positional"} students have the lower mean loss. `;
    const slope = (b.value - a.value) / (b.alpha - a.alpha), value = a.alpha - a.value / slope;
    const share = (value - a.alpha) / (b.alpha - a.alpha), error = Math.hypot((1 - share) * a.error, share * b.error);
    return `Their mean losses cross at α = ${withError({value, error: Math.abs(error / slope)})}. `;
  }

  /** Which student has the lower loss: on average, and on how many data sets. */
  function winner() {
    const lead = leads(run.rows), mean = measured(lead), name = mean.value > 0 ? "semantic" : "positional";
    const left = ["semantic", "positional"].map(start => [start, chosen(run.rows, start).filter(row => row.valley !== start)])
      .filter(([, gone]) => gone.length).map(([start, gone]) => `${gone.length} left the ${start} valley. `);
    const wins = lead.filter(value => value * mean.value > 0).length;
    const by = withError({value: Math.abs(mean.value), error: mean.error}, 1e3);
    return `The ${name} student's loss is lower by ${by} (in 10⁻³) on average, and on ${wins} of ${lead.length
    } data sets${wins < lead.length ? ": one alone can mislead" : ""}. ${left.join("")}`;
  }

  function report({rows, train, total}, done) {
    const random = chosen(rows, "random"), semantic = random.filter(row => row.valley === "semantic").length;
    const stuck = rows.filter(row => !row.converged).length;
    buttons.forEach((button, i) => { button.innerHTML = !done && button.value === train ? "Stop" : words[i]; });
    said.ariaBusy = String(!done);  // read aloud at the end only
    said.textContent = rows.length < total ? `${rows.length} of ${total} students${done ? ": stopped." : " …"}` : [
      train === "sweep" ? crossing() : winner(),
      `Of ${random.length} random starts ${random.length - semantic} ended positional, ${semantic} semantic.`,
      stuck ? ` ${stuck} did not converge.` : "",
    ].join("");
  }

  function start(train) {
    const {omega, matrix, alpha, d, seed} = state;
    const cells = (train === "circle" ? [alpha] : ALPHAS).flatMap(alpha =>
      Array.from({length: SETS[train]}, (_, k) => ({alpha, seed: 1000 * seed + k})));
    run = {train, omega, matrix, rows: [], total: 3 * cells.length};
    report(run, false);
    show();
    let drawing;
    work("students", {task: {omega, A: task().A}, d, cells}, row => {
      if (row) run.rows.push(row);
      report(run, !row);
      drawing ||= requestAnimationFrame(() => { drawing = null; show(); });
    });
  }

  const startAsked = () => state.train && start(state.train);
  for (const button of buttons)
    button.addEventListener("click", () => {
      const stops = button.textContent === "Stop";
      move({train: stops ? "" : button.value});
      if (!stops) return startAsked();
      work();
      report(run, true);
    });
  root.addEventListener("opened", startAsked);
  startAsked();
})(window.explorer);
