() => new Promise(done => {
    let before = NaN;
    const look = () => { if (scrollY === before) done(); else { before = scrollY; setTimeout(look, 200); } };
    look();
})
