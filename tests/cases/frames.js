() => new Promise(done => {
    requestAnimationFrame(() => requestAnimationFrame(() => done()));
    setTimeout(done, 10000);  // a browser that draws no frame, beside busy processes, would be waited for without end
})
