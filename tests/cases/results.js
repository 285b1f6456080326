([name, results]) => {
    const {answered} = jobs.findLast(job => job.name === name);
    [...results, null].forEach(result => answered(result));
}
