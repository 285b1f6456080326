/* What the transformer looks at in the sequence that a reader types, and what it counts, from the weights that the page
   carries. With x_i = token + position embedding: softmax over j of (Q x_i) . (K x_j) / sqrt(64). */
"use strict";
(() => {
  const LENGTH = 10, LETTERS = "ABCDEFGHIJKLMNO";

  const decode = text => new Float32Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);

  const times = (matrix, vector) => Array.from({length: matrix.length / vector.length}, (_, row) =>
    vector.reduce((sum, value, column) => sum + matrix[row * vector.length + column] * value, 0));

  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

  function softmax(scores) {
    const top = Math.max(...scores), raised = scores.map(score => Math.exp(score - top));
    const total = raised.reduce((sum, value) => sum + value, 0);
    return raised.map(value => value / total);
  }

  const plus = (a, b) => a.map((value, i) => value + b[i]);

  const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;

  function normed({norm_scale, norm_shift}, values) {
    const centre = mean(values), spread = Math.sqrt(mean(values.map(value => (value - centre) ** 2)) + 1e-5);
    return values.map((value, i) => (value - centre) / spread * norm_scale[i] + norm_shift[i]);
  }

  function answer(weights, width, tokens) {
    const inputs = tokens.map((token, i) => Array.from({length: width}, (_, c) =>
      weights.token[token * width + c] + weights.position[i * width + c]));
    const [queries, keys, values] = ["query", "key", "value"].map(part => inputs.map(x => times(weights[part], x)));
    const attention = queries.map(query => softmax(keys.map(key => dot(query, key) / Math.sqrt(width))));
    const counts = attention.map(shares => {
      const mixed = values[0].map((_, c) => dot(shares, values.map(value => value[c])));
      const hidden = plus(times(weights.hidden, normed(weights, mixed)), weights.hidden_bias);
      const scores = plus(times(weights.output, hidden.map(value => Math.max(value, 0))), weights.output_bias);
      return scores.indexOf(Math.max(...scores));
    });
    return {attention, counts};
  }

  function problem(text) {
    const strange = [...new Set(text)].filter(letter => !LETTERS.includes(letter));
    if (strange.length) return `Only the letters A to O are tokens, not ${strange.map(s => `“${s}”`).join(", ")}.`;
    if (text.length !== LENGTH) return `A sequence has ${LENGTH} letters, but this sequence has ${text.length}.`;
    return "";
  }

  /** The attention of one solution and what it counts, as a table; `letters` are A to O. */
  function table(name, {attention, counts}, letters) {
    const cell = (value, i, j) => `<td data-value="${value}" style="--share:${(100 * value).toFixed(1)}%"
      class="${value > 0.54 ? "high" : ""} ${letters[i] === letters[j] ? "equal" : ""}" title="${letters[i]} at ${
      i + 1} looks at ${letters[j]} at ${j + 1}: ${(100 * value).toFixed(2)} %">${(100 * value).toFixed(0)}</td>`;
    const rows = letters.map((letter, i) => {
      const right = letters.filter(other => other === letter).length, wrong = counts[i] !== right;
      return `<tr><th scope="row">${letter}</th>${attention[i].map((value, j) => cell(value, i, j)).join("")}
        <td class="count${wrong ? " wrong" : ""}" title="${wrong ? `wrong: ${right}` : "right"}">${
        wrong ? `(${counts[i]})` : counts[i]}</td></tr>`;
    });
    const heads = [...letters, "count"].map(head => `<th scope="col">${head}</th>`);
    return `<table><caption>${name} solution, per cent</caption><thead><tr><td></td>${heads.join("")}</tr></thead>
      <tbody>${rows.join("")}</tbody></table>`;
  }

  function start(panel) {
    const {shapes, solutions} = JSON.parse(panel.querySelector("script[type='application/json']").textContent);
    const width = shapes.token[1], input = panel.querySelector("input"), message = panel.querySelector(".message");
    for (const weights of Object.values(solutions))
      for (const part of Object.keys(weights)) weights[part] = decode(weights[part]);

    function show() {
      const text = input.value.trim().toUpperCase(), wrong = problem(text);
      message.textContent = wrong;
      message.classList.toggle("wrong", Boolean(wrong));
      input.setAttribute("aria-invalid", Boolean(wrong));
      panel.querySelector(".matrices").inert = Boolean(wrong);  // grey: they are of another sequence
      if (wrong) return;
      const tokens = [...text].map(letter => LETTERS.indexOf(letter));
      for (const place of panel.querySelectorAll("figure")) {
        const name = place.dataset.solution;
        place.innerHTML = table(name, answer(solutions[name], width, tokens), [...text]);
      }
    }

    input.addEventListener("input", show);
    panel.querySelector("form").addEventListener("submit", event => { event.preventDefault(); show(); });
    panel.querySelectorAll("button").forEach(button => button.addEventListener("click", () => {
      input.value = button.value;
      show();
    }));
    show();
  }

  document.querySelectorAll(".attention-panel").forEach(start);
})();
