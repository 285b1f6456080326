/* What a figure says of the point under the pointer, of the one that is tapped, or chosen by arrow keys: its series and
   its numbers with their errors. They come from figures/NAME.js, at the first look at the figure. */
"use strict";
(() => {
  const NEAR = 40, OF_MAP = 12;  // pixels within which a point is meant, and a point on a map rather than its cell
  const told = window.figureReadout = {};  // by figure: {boxes: {tall, wide}, series}; null while it is on its way
  const box = document.createElement("div"), ring = document.createElement("i");
  [box.className, ring.className] = ["readout-box", "readout-point"];
  box.setAttribute("role", "status");
  let shown = null, tapped = false;

  for (const figure of document.querySelectorAll("figure.readout")) {
    const picture = figure.querySelector(".themes");
    Object.assign(picture, {tabIndex: 0, role: "group", ariaLabel: "Arrow keys read the values of the figure"});
    picture.dataset.figure = figure.id;
  }

  /** Where a series has a point, in pixels of the window; null until the figure's numbers are there. */
  function placing(picture) {
    const name = picture.dataset.figure;
    if (!(name in told)) {
      told[name] = null;
      const script = document.createElement("script");
      script.src = `${document.documentElement.dataset.content_root}figures/${name}.js`;
      document.head.append(script);
    }
    if (!told[name]) return null;
    const image = [...picture.querySelectorAll("img")].find(some => some.checkVisibility());
    const {left, top, width, height} = image.getBoundingClientRect(), {naturalWidth, naturalHeight} = image;
    const scale = Math.min(width / naturalWidth, height / naturalHeight);  // of a picture seen whole in its place
    const x = left + (width - scale * naturalWidth) / 2, y = top + (height - scale * naturalHeight) / 2;
    const boxes = told[name].boxes[/-wide/.test(image.currentSrc) ? "wide" : "tall"];
    return ({axes}, [across, up]) => {
      const [west, north, east, south] = boxes[axes];
      return [x + scale * naturalWidth * (west + across * (east - west)),
              y + scale * naturalHeight * (south - up * (south - north))];
    };
  }

  /** The point of a picture's series next to a place: {series, point, x, y}, undefined where nothing is near. */
  function nearest(picture, left, top, among = told[picture.dataset.figure]?.series, limit = NEAR) {
    const at = placing(picture), near = [];
    for (const series of at ? among : []) {
      const [west, south] = at(series, [0, 0]), [east, north] = at(series, [1, 1]);
      if (limit === NEAR && (left < west - 9 || left > east + 9 || top < north - 9 || top > south + 9)) continue;
      for (const point of series.points) {
        let [x, y] = at(series, point);
        if (point[0] === null) x = left;
        if (point[1] === null) y = top;
        const away = Math.hypot(x - left, y - top), cell = point[4] && limit === NEAR;
        near.push({picture, series, point, x, y, away: cell ? OF_MAP + away / 1e3 : away});
      }
    }
    return near.reduce((best, some) => some.away < (best?.away ?? limit) ? some : best, undefined);
  }

  function show(found) {
    if (found?.point === shown?.point && found?.x === shown?.x) return;
    shown = found;
    box.hidden = ring.hidden = !found;
    if (!found) return;
    const {picture, series, point, x, y} = found;
    (picture.closest("dialog") ?? document.body).append(ring, box);
    const texts = point.slice(2);
    const lines = series.labels.map((label, i) => texts[i] && `<br>${label}${label && ": "}<span>${texts[i]}</span>`);
    box.innerHTML = `<b>${series.name}</b>${lines.join("")}`.replace("<b></b><br>", "");
    if (box.textContent.includes("\\(")) window.MathJax?.typeset?.([box]);
    Object.assign(ring.style, {left: `${x}px`, top: `${y}px`});
    const {offsetWidth: width, offsetHeight: height} = box;
    box.style.left = `${Math.max(4, Math.min(x + 12, document.documentElement.clientWidth - width - 4))}px`;
    box.style.top = `${y - height - 12 < 4 ? y + 16 : y - height - 12}px`;
  }

  const pictureOf = event => event.target.closest?.("[data-figure]");
  const look = event => {
    const picture = pictureOf(event);
    show(picture && nearest(picture, event.clientX, event.clientY));
  };
  document.addEventListener("pointermove", event => { if (event.pointerType !== "touch") look(event); });
  document.addEventListener("pointerdown", event => {
    if (event.pointerType !== "touch") return;
    look(event);
    tapped = Boolean(shown);
  });
  document.addEventListener("click", event => {  // a tap beside all points enlarges the figure
    if (tapped && pictureOf(event)) event.stopPropagation();
    tapped = false;
  }, true);
  document.addEventListener("focusin", event => {
    const picture = pictureOf(event);
    if (picture) placing(picture);
  });
  document.addEventListener("focusout", () => show());
  document.addEventListener("keydown", event => {
    const picture = pictureOf(event), all = picture && told[picture.dataset.figure]?.series;
    if (event.key === "Escape") show();
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1}[event.key];
    if (!all || !step) return;
    event.preventDefault();
    const {series = all[0], point = all[0].points.at(-1), x = 0, y = 0} = shown?.picture === picture ? shown : {};
    const turn = (list, of) => list.at((list.indexOf(of) + step) % list.length);
    const along = /Left|Right/.test(event.key) && series.points.length > 1;
    const one = along && {...series, points: [turn(series.points, point)]};
    const found = nearest(picture, x, y, [one || turn(all, series)], Infinity);
    show(found && {...found, series: along ? series : found.series});
  });
  for (const kind of ["scroll", "resize"]) addEventListener(kind, () => show(), {passive: true, capture: true});
})();
