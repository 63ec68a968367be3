//! The host or loop-back queue at each input of the grating, and the inputs that share a wavegroup.
//!
//! | architecture | inputs | hosts on | queues on |
//! |---|---|---|---|
//! | shared | N + 1 | 0 … N − 1 | N |
//! | mixed | N + N/r | those of each queue, below | j ≡ 0 mod (r + 1) |
//! | distributed | 2N | the even ones | (i + N + 1) mod 2N for the host on i |
//! | AO-NACK | N + 1 | 0 … N − 1 | none: N reflects |
//!
//! The mixed buffer's queue on j serves the hosts on j + N/2 + N/2r + h, h = 1
//! … r, modulo N + N/r (§II.C). Wavegroups divide all inputs of the mixed and
//! distributed buffers, and the hosts' inputs of the others; the input of the
//! shared buffer is in group 0 at every output.

use super::config::{Architecture, GroupRule, LionsConfig};

/// No queue.
pub const NONE: u32 = u32::MAX;

/// The inputs of the grating.
#[derive(Clone, Debug)]
pub struct Ports {
    /// P: the number of inputs, and of outputs.
    pub inputs: u32,
    /// Input of each host.
    pub host_input: Vec<u32>,
    /// Wavegroup of each host.
    pub host_group: Vec<u32>,
    /// Loop-back queue of each host, if there are any.
    pub host_queue: Vec<u32>,
    /// Input of each loop-back queue.
    pub queue_input: Vec<u32>,
    /// Wavegroup of each loop-back queue.
    pub queue_group: Vec<u32>,
}

impl Ports {
    /// The inputs that wavegroups divide.
    pub fn grouped(config: &LionsConfig, hosts: u32) -> u32 {
        match config.architecture {
            Architecture::Mlb => hosts + hosts / config.r(),
            Architecture::Dlb => 2 * hosts,
            _ => hosts,
        }
    }

    /// The ports of a resolved configuration.
    pub fn new(config: &LionsConfig, hosts: u32) -> Ports {
        let grouped = Ports::grouped(config, hosts);
        let (host_input, host_queue, queue_input) = match config.architecture {
            Architecture::Slb => (all(hosts), vec![0; hosts as usize], vec![hosts]),
            Architecture::Mlb => mixed(hosts, config.r()),
            Architecture::Dlb => distributed(hosts),
            Architecture::AoNack | Architecture::Drop => {
                (all(hosts), vec![NONE; hosts as usize], Vec::new())
            }
        };
        let group = |input: &u32| match config.group_rule {
            _ if *input >= grouped => 0,
            GroupRule::Contiguous => {
                (*input as u64 * config.receivers as u64 / grouped as u64) as u32
            }
            GroupRule::Interleaved => input % config.receivers,
        };
        let extra = matches!(
            config.architecture,
            Architecture::Slb | Architecture::AoNack
        );
        Ports {
            inputs: grouped + extra as u32,
            host_group: host_input.iter().map(group).collect(),
            queue_group: queue_input.iter().map(group).collect(),
            host_input,
            host_queue,
            queue_input,
        }
    }

    /// Number of hosts.
    pub fn hosts(&self) -> usize {
        self.host_input.len()
    }

    /// Number of loop-back queues, each with a memory of its own.
    pub fn queues(&self) -> usize {
        self.queue_input.len()
    }
}

fn all(hosts: u32) -> Vec<u32> {
    (0..hosts).collect()
}

/// Hosts' inputs, their queues, the queues' inputs.
type Wired = (Vec<u32>, Vec<u32>, Vec<u32>);

fn distributed(hosts: u32) -> Wired {
    let host_input: Vec<u32> = (0..hosts).map(|h| 2 * h).collect();
    let queue_input = host_input
        .iter()
        .map(|i| (i + hosts + 1) % (2 * hosts))
        .collect();
    (host_input, all(hosts), queue_input)
}

fn mixed(hosts: u32, r: u32) -> Wired {
    let queues = hosts / r;
    let inputs = hosts + queues;
    let queue_input: Vec<u32> = (0..queues).map(|q| q * (r + 1)).collect();
    // i − P/2 is j + h, and both j and P/2 are multiples of r + 1.
    let queue_serving = |input: u32| (input + inputs / 2) % inputs / (r + 1);
    let host_input: Vec<u32> = (0..inputs).filter(|i| i % (r + 1) != 0).collect();
    let host_queue = host_input.iter().map(|&i| queue_serving(i)).collect();
    (host_input, host_queue, queue_input)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports(architecture: Architecture, hosts: u32, k: u32, r: u32, rule: GroupRule) -> Ports {
        let config = LionsConfig {
            architecture,
            receivers: k,
            hosts_per_queue: Some(r),
            group_rule: rule,
            ..LionsConfig::default()
        };
        Ports::new(&config, hosts)
    }

    /// All shapes of buffers on inputs of their own.
    fn shapes() -> impl Iterator<Item = (Architecture, u32, u32)> {
        let mixed = [
            (4, 1),
            (4, 2),
            (8, 2),
            (16, 4),
            (24, 3),
            (64, 1),
            (64, 4),
            (64, 16),
        ];
        let distributed = [2u32, 4, 6, 10, 64];
        mixed
            .into_iter()
            .map(|(n, r)| (Architecture::Mlb, n, r))
            .chain(distributed.map(|n| (Architecture::Dlb, n, 1)))
    }

    #[test]
    fn every_input_has_one_user_and_every_queue_its_hosts() {
        for (architecture, n, r) in shapes() {
            let p = ports(architecture, n, 1, r, GroupRule::Contiguous);
            let mut used: Vec<u32> = p.host_input.iter().chain(&p.queue_input).copied().collect();
            used.sort_unstable();
            assert_eq!(used, all(p.inputs), "{architecture:?} {n} {r}");
            assert_eq!(p.inputs, n + n / r);
            for q in 0..p.queues() {
                let served = p.host_queue.iter().filter(|&&x| x == q as u32).count();
                assert_eq!(served, r as usize);
            }
        }
    }

    /// §II.B and §II.C by their formulas: j = (i + N + 1) mod 2N; i = (j + N/2 +
    /// N/2r + h) mod (N + N/r).
    #[test]
    fn queues_sit_where_the_paper_puts_them() {
        let p = ports(Architecture::Dlb, 64, 4, 1, GroupRule::Contiguous);
        for h in 0..64 {
            assert_eq!(p.queue_input[h], (p.host_input[h] + 65) % 128);
        }
        let (n, r) = (64, 4);
        let p = ports(Architecture::Mlb, n, 4, r, GroupRule::Contiguous);
        for host in 0..n as usize {
            let j = p.queue_input[p.host_queue[host] as usize];
            assert_eq!(j % (r + 1), 0);
            let served: Vec<u32> = (1..=r)
                .map(|h| (j + n / 2 + n / (2 * r) + h) % (n + n / r))
                .collect();
            assert!(served.contains(&p.host_input[host]));
        }
    }

    /// The claims of §II.B and §II.C about interleaved ports hold for contiguous groups, for every
    /// k from 2 that divides the inputs, and not for interleaved ones: a stored packet requests
    /// another group (unless a mixed queue serves so many hosts that its inputs wrap around into
    /// its own group), and groups have equally many hosts and queues if k divides both.
    #[test]
    fn contiguous_groups_satisfy_the_papers_claims() {
        let mut broken = 0;
        for (architecture, n, r) in shapes() {
            let inputs = n + n / r;
            for k in (2..=n).filter(|&k| inputs.is_multiple_of(k)) {
                let changes = |p: &Ports, h: usize| {
                    p.host_group[h] != p.queue_group[p.host_queue[h] as usize]
                };
                let p = ports(architecture, n, k, r, GroupRule::Contiguous);
                if k == 2 || r <= inputs / 2 - inputs / k {
                    let all = (0..n as usize).all(|h| changes(&p, h));
                    assert!(all, "{architecture:?} {n} {r} {k}");
                }
                if n.is_multiple_of(k) && (n / r).is_multiple_of(k) {
                    for g in 0..k {
                        let of = |groups: &[u32]| groups.iter().filter(|&&x| x == g).count() as u32;
                        assert_eq!(of(&p.host_group), n / k);
                        assert_eq!(of(&p.queue_group), n / r / k);
                    }
                }
                let p = ports(architecture, n, k, r, GroupRule::Interleaved);
                broken += (0..n as usize).any(|h| !changes(&p, h)) as u32;
            }
        }
        assert!(broken > 0);
    }

    #[test]
    fn the_shared_buffer_is_in_group_0_and_the_reflector_in_none() {
        let p = ports(Architecture::Slb, 8, 4, 1, GroupRule::Contiguous);
        assert_eq!(
            (p.inputs, &p.queue_input[..], &p.queue_group[..]),
            (9, &[8][..], &[0][..])
        );
        assert_eq!(p.host_group, [0, 0, 1, 1, 2, 2, 3, 3]);
        let p = ports(Architecture::AoNack, 8, 4, 1, GroupRule::Interleaved);
        assert_eq!((p.inputs, p.queues()), (9, 0));
        assert_eq!(p.host_group, [0, 1, 2, 3, 0, 1, 2, 3]);
    }
}
