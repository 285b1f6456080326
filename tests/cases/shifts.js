() => new Promise(done => {
    const seen = new PerformanceObserver(list =>
        done(list.getEntriesByType("layout-shift").reduce((sum, {value}) => sum + value, 0)));
    for (const type of ["layout-shift", "navigation"]) seen.observe({type, buffered: true});  // always the last
})
