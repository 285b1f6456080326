([places, told]) => {
    window.figureReadout.made = told;
    const picture = document.querySelector("figure#made .themes");
    return places.map(([clientX, clientY]) => {
        picture.dispatchEvent(new PointerEvent("pointermove", {clientX, clientY, bubbles: true, pointerType: "mouse"}));
        const box = document.querySelector(".readout-box"), ring = document.querySelector(".readout-point");
        return !box?.isConnected || box.hidden ? null
            : [box.querySelector("b")?.innerText, box.querySelector("span")?.innerText,
                parseFloat(ring.style.left), parseFloat(ring.style.top)];
    });
}
