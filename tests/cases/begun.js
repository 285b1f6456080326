() => {
        const training = attentionTraining(explorerData), normal = training.normals(5);
        const task = {omega: 0.3, A: explorerData.tasks.standard.A}, alpha = 0.5, d = 40;
        const {teacher} = training.sample(task, 20, d, normal);
        const start = teacher.map(weight => 0.1 * normal() + 0.4 * weight);
        const theta = start.reduce((sum, weight, i) => sum + weight * teacher[i], 0) / d;
        return [training.rolls({task, d, seeds: [5], alpha, rate: 1, every: 1, hint: 0.4}).next().value, theta];
    }
