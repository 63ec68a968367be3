//! The reference for tests of the solver: plain progressive filling of all flows, which shares no
//! code with the solver.

/// A flow: links of its path, weight, limit.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Links, by number.
    pub path: Vec<usize>,
    /// At least 1.
    pub weight: u32,
    /// [b/s].
    pub limit: Option<u64>,
}

/// Max-min fair rates [b/s].
pub fn rates(capacity: &[u64], flows: &[Flow]) -> Vec<f64> {
    let mut rate: Vec<Option<f64>> = vec![None; flows.len()];
    while rate.contains(&None) {
        let level = (0..capacity.len())
            .filter_map(|l| level(l, capacity, flows, &rate))
            .chain(limits(flows, &rate))
            .fold(f64::INFINITY, f64::min);
        let stops: Vec<usize> = (0..flows.len())
            .filter(|&f| rate[f].is_none())
            .filter(|&f| {
                let flow = &flows[f];
                let full = |&l: &usize| {
                    level
                        >= self::level(l, capacity, flows, &rate).unwrap_or(f64::INFINITY)
                            * (1.0 - 1e-12)
                };
                flow.limit
                    .is_some_and(|x| x as f64 / flow.weight as f64 <= level * (1.0 + 1e-12))
                    || flow.path.iter().any(full)
            })
            .collect();
        for f in stops {
            rate[f] = Some(level * flows[f].weight as f64);
        }
    }
    rate.into_iter().map(|r| r.unwrap_or(0.0)).collect()
}

/// The level at which a link is full, if a flow over it still rises.
fn level(link: usize, capacity: &[u64], flows: &[Flow], rate: &[Option<f64>]) -> Option<f64> {
    let over = || (0..flows.len()).filter(|&f| flows[f].path.contains(&link));
    let fixed: f64 = over().filter_map(|f| rate[f]).sum();
    let rising: u64 = over()
        .filter(|&f| rate[f].is_none())
        .map(|f| flows[f].weight as u64)
        .sum();
    (rising > 0).then(|| (capacity[link] as f64 - fixed).max(0.0) / rising as f64)
}

fn limits<'a>(flows: &'a [Flow], rate: &'a [Option<f64>]) -> impl Iterator<Item = f64> + 'a {
    let rising = flows.iter().zip(rate).filter(|(_, r)| r.is_none());
    rising.filter_map(|(f, _)| f.limit.map(|x| x as f64 / f.weight as f64))
}
