([task, count, d, seed]) => {
    const {normals, sample} = attentionTraining(explorerData);
    const {teacher, inputs} = sample(task, count, d, normals(seed));
    return {teacher: [...teacher], inputs: [...inputs]};
}
