/* The sentence of the model page at another omega; `_ext/sentence.py` has computed its numbers. */
for (const root of document.querySelectorAll(".sentence")) {
  const states = JSON.parse(root.querySelector("script").textContent), cells = root.querySelectorAll("[style]");
  const label = root.querySelector("label");
  label.hidden = false;
  label.addEventListener("input", ({target}) => states[target.value].forEach((value, i) => {
    cells[i].style.setProperty("--value", value);
    if (!cells[i].matches("i")) cells[i].textContent = value.toFixed(2);
  }));
}
