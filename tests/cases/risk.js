([task, count, d, seed, weights]) => {
        const {normals, sample, risk} = attentionTraining(explorerData);
        const {value, gradient} = risk(sample(task, count, d, normals(seed)), Float64Array.from(weights));
        return [value, [...gradient]];
    }
