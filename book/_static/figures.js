/* A figure opens, for both themes, in a dialog that fills the window: by click, or by the button below it. Escape closes it. */
document.addEventListener("DOMContentLoaded", () => {
  const pictures = [...document.querySelectorAll(".bd-article figure")]
    .map(figure => [figure, figure.querySelector(".themes") ?? figure.querySelector("img")])
    .filter(([figure, picture]) => picture && !figure.closest(".attention-panel, .explorer"));
  if (!pictures.length || !window.HTMLDialogElement) return;
  const dialog = document.createElement("dialog"), close = document.createElement("button");
  const place = document.createElement("div");
  dialog.className = "enlarged";
  dialog.setAttribute("aria-label", "Enlarged figure");
  place.tabIndex = 0;
  place.setAttribute("role", "region");
  place.setAttribute("aria-label", "The figure; arrow keys scroll");
  close.type = "button";
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", event => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => place.replaceChildren());
  dialog.append(close, place);
  document.body.append(dialog);
  for (const [figure, picture] of pictures) {
    const enlarge = () => {
      place.replaceChildren(picture.cloneNode(true));
      dialog.showModal();
      close.focus();
    };
    const button = document.createElement("button");
    button.type = "button";
    button.className = "enlarge";
    button.textContent = "Enlarge";
    button.addEventListener("click", enlarge);
    picture.addEventListener("click", enlarge);
    picture.classList.add("opens");
    (figure.querySelector("figcaption") ?? figure).append(button);
  }
});
