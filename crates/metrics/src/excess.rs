//! Traffic that is offered at a higher rate than links carry, by arithmetic.
//!
//! Beyond saturation queues grow without end, however long the run; a short run shows little of it.
//! The mean rates at which racks and servers send to each other are known from the workload, and
//! the rates of their links from the fabric. A part is in *excess* if it is offered more than its
//! links carry. A part without excess may be overloaded nevertheless, because paths, schedules and
//! relays may carry less than the links.
//!
//! The rates are those of a sample of the traffic, so a part must exceed its links by [`SIGMAS`]
//! standard deviations of its count in the sample.

use serde::Serialize;

/// Number of standard deviations above which an excess is not due to chance: by chance, 1 of 31,000
/// parts exceeds four.
const SIGMAS: f64 = 4.0;

/// Traffic that is offered more than its links carry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Excess {
    /// The part: `between racks`, `from rack 3`, `to pod 1`, `from server 7`, …
    pub traffic: String,
    /// The offered rate ÷ the rate of the links.
    pub times: f64,
}

/// Groups of adjacent servers, and the links of each to all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Links {
    /// The name of a group: `rack`, `pod` or `server`.
    pub group: &'static str,
    /// Servers in each.
    pub servers: u32,
    /// Capacity of the links of a group in each direction [b/s].
    pub rate_bps: f64,
}

/// Sum of the rates of a part, and of their squares.
#[derive(Clone, Copy, Default)]
struct Sum {
    rate: f64,
    squares: f64,
}

impl Sum {
    fn add(&mut self, rate: f64, burst: f64) {
        self.rate += rate;
        self.squares += burst * rate * rate;
    }

    fn excess(self, links_bps: f64, traffic: impl FnOnce() -> String) -> Option<Excess> {
        let certain = self.rate - SIGMAS * self.squares.sqrt();
        (certain > links_bps).then(|| Excess {
            traffic: traffic(),
            times: self.rate / links_bps,
        })
    }
}

impl Excess {
    /// The largest excess of `pairs`, a sample of sending and receiving servers with the rate that
    /// each pair represents [b/s]. `burst` pairs are drawn together, so the variance by chance is
    /// that many times as large. The result is the excess of all groups together if their links are
    /// offered more than they carry, else that of one group. An excess of the first `links` has
    /// priority over one of the others: if a server is offered more than its link carries, no other
    /// fabric helps.
    pub fn of(pairs: &[(u32, u32, f64, f64)], servers: u32, links: &[Links]) -> Option<Excess> {
        let (first, others) = links.split_first()?;
        first.excess(pairs, servers).or_else(|| {
            let found = others.iter().filter_map(|l| l.excess(pairs, servers));
            found.reduce(larger)
        })
    }
}

/// The larger of two, the first of equal ones.
fn larger(a: Excess, b: Excess) -> Excess {
    match b.times > a.times {
        true => b,
        false => a,
    }
}

impl Links {
    fn excess(&self, pairs: &[(u32, u32, f64, f64)], servers: u32) -> Option<Excess> {
        let groups = servers.div_ceil(self.servers) as usize;
        let mut sums = vec![[Sum::default(); 2]; groups];
        let mut all = Sum::default();
        for &(src, dst, rate, burst) in pairs {
            let (from, to) = (src / self.servers, dst / self.servers);
            if from != to {
                sums[from as usize][0].add(rate, burst);
                sums[to as usize][1].add(rate, burst);
                all.add(rate, burst);
            }
        }
        let name = self.group;
        all.excess(groups as f64 * self.rate_bps, || format!("between {name}s"))
            .or_else(|| {
                let parts = sums.iter().enumerate().flat_map(|(g, both)| {
                    let named = [("from", both[0]), ("to", both[1])];
                    named.map(|(way, sum)| (way, g, sum))
                });
                { parts }
                    .filter_map(|(way, g, sum)| {
                        sum.excess(self.rate_bps, || format!("{way} {name} {g}"))
                    })
                    .reduce(larger)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RACKS: Links = Links {
        group: "rack",
        servers: 4,
        rate_bps: 1e9,
    };

    /// Pairs of rack 0 and other racks: `each` pairs in both directions for every rack.
    fn even(each: u32, rate: f64) -> Vec<(u32, u32, f64, f64)> {
        let racks = (0..4).flat_map(|a| (1..4).map(move |k| (a, (a + k) % 4)));
        racks
            .flat_map(|(a, b)| (0..each).map(move |k| (4 * a + k % 4, 4 * b, rate, 1.0)))
            .collect()
    }

    /// 4 racks of 30,000 pairs each: a rate of 1.05 times the links is 8 standard deviations above
    /// them, 0.99 times is below.
    #[test]
    fn an_even_excess_is_one_of_all_racks() {
        let found = |times: f64| Excess::of(&even(10_000, times * 1e9 / 3e4), 16, &[RACKS]);
        let excess = found(1.05).unwrap();
        assert_eq!(excess.traffic, "between racks");
        assert!((excess.times - 1.05).abs() < 1e-9);
        assert_eq!(found(0.99), None);
        // This is possible by chance: four standard deviations of the sum, √120,000 = 346, are 1.2
        // %.
        assert_eq!(found(1.01), None);
    }

    #[test]
    fn one_rack_in_excess_is_named_with_its_direction() {
        let mut pairs = even(10_000, 0.5e9 / 3e4);
        pairs.extend(vec![(1, 9, 0.6e9 / 1e4, 1.0); 10_000]);
        let excess = Excess::of(&pairs, 16, &[RACKS]).unwrap();
        assert!(["from rack 0", "to rack 2"].contains(&&*excess.traffic));
        assert!((excess.times - 1.1).abs() < 1e-9);
    }

    #[test]
    fn traffic_within_a_group_does_not_leave_it() {
        let local = vec![(0, 3, 5e9 / 1e4, 1.0); 10_000];
        assert_eq!(Excess::of(&local, 16, &[RACKS]), None);
        let server = Links {
            group: "server",
            servers: 1,
            ..RACKS
        };
        let excess = Excess::of(&local, 16, &[server, RACKS]).unwrap();
        assert!(["from server 0", "to server 3"].contains(&&*excess.traffic));
        assert!((excess.times - 5.0).abs() < 1e-9);
    }

    /// 10,000 pairs are known to 1 %; 100 rounds of 100 pairs with one target, to 10 %.
    #[test]
    fn the_pairs_of_a_round_count_as_one() {
        let found =
            |burst: f64| Excess::of(&vec![(1, 9, 1.1e9 / 1e4, burst); 10_000], 16, &[RACKS]);
        assert!((found(1.0).unwrap().times - 1.1).abs() < 1e-9);
        assert_eq!(found(100.0), None);
    }

    #[test]
    fn few_pairs_prove_nothing() {
        assert_eq!(Excess::of(&[(0, 4, 1.5e9, 1.0)], 16, &[RACKS]), None);
        assert_eq!(Excess::of(&[], 16, &[RACKS]), None);
    }
}
