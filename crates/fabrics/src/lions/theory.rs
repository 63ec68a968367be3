//! Closed forms for LIONS: what the simulation is tested against, and lines to
//! draw over measured points.
//!
//! Symbols: N hosts; k receivers an output; n = N/k hosts a wavegroup; p
//! offered load of a host in packets a slot, each to any of the N hosts alike,
//! its own included; a = p/k. A slot is a packet and the gap behind it.

/// A switch under uniform traffic: N hosts, k receivers an output, load p.
#[derive(Clone, Copy, Debug)]
pub struct Uniform {
    /// N.
    pub hosts: f64,
    /// k.
    pub receivers: f64,
    /// p.
    pub load: f64,
}

impl Uniform {
    /// N hosts, k receivers, load p.
    pub fn new(hosts: u32, receivers: u32, load: f64) -> Uniform {
        Uniform {
            hosts: hosts as f64,
            receivers: receivers as f64,
            load,
        }
    }

    /// n: hosts of a wavegroup.
    fn group(&self) -> f64 {
        self.hosts / self.receivers
    }

    /// P₀: probability that none of a wavegroup's hosts sends to an output.
    fn quiet(&self) -> f64 {
        (1.0 - self.load / self.hosts).powf(self.group())
    }

    /// Packets an output receives in a slot if losers are dropped: k(1 − P₀).
    pub fn dropping(&self) -> f64 {
        self.receivers * (1.0 - self.quiet())
    }

    /// Mean wait in a shared loop-back buffer, slotted [slots]; exact.
    pub fn shared_wait(&self) -> f64 {
        let (k, a, n) = (self.receivers, self.load / self.receivers, self.group());
        let q = self.load / self.hosts;
        let square = n * q * (1.0 - q) + a * a;
        let overflow = a - 1.0 + self.quiet();
        let others = (k - 1.0) * overflow;
        let used = a + others;
        let others_square = (k - 1.0)
            * (square - 2.0 * a + 1.0 - self.quiet() - overflow * overflow)
            + others * others;
        let queue = (square + 2.0 * a * others + others_square - 2.0 * a - 2.0 * used * others
            + used)
            / (2.0 * (1.0 - used));
        queue / self.load
    }

    /// Mean wait in distributed loop-back buffers, slotted, k ≥ 2 [slots];
    /// approximate.
    pub fn distributed_wait(&self) -> f64 {
        let (a, n) = (self.load / self.receivers, self.group());
        (n - 1.0) / n * a / (2.0 * (1.0 - a))
    }

    /// Mean wait in distributed loop-back buffers with wavegroups of every k-th input,
    /// slotted, k even [slots]; exact but for transmitters. Hosts, on every second
    /// port, are in half of the groups, and their queues in the others: what a slot
    /// has too many of, a queue without rivals serves from the next slot on.
    pub fn interleaved_wait(&self) -> f64 {
        let hosts = Uniform {
            receivers: self.receivers / 2.0,
            ..*self
        };
        let (a, n, q) = (
            hosts.load / hosts.receivers,
            hosts.group(),
            hosts.load / hosts.hosts,
        );
        let square = n * q * (1.0 - q) + a * a;
        let over = a - 1.0 + hosts.quiet();
        let over_square = square - 2.0 * a + 1.0 - hosts.quiet();
        (over + (over_square - over) / (2.0 * (1.0 - over))) / a
    }

    /// Mean latency with a shared loop-back buffer and k = 1, unslotted [slots]:
    /// sending, M/D/1 at the host, and at the output.
    pub fn shared_latency(&self) -> f64 {
        let wait = fixed_service_wait(self.load);
        1.0 + wait + (self.hosts - 1.0) / self.hosts * wait
    }

    /// K = k·n/(n − 1): a packet competes with the others of its wavegroup.
    fn rivals(&self) -> f64 {
        self.receivers * self.group() / (self.group() - 1.0)
    }

    /// What a host delivers in a slot of its own at saturation, unslotted, if losers
    /// are lost and a receiver is taken for `heard` of a slot (less than 1 where
    /// converters tune longer than receivers settle): K/(K + heard).
    pub fn unslotted_saturation(&self, heard: f64) -> f64 {
        1.0 / (1.0 + heard / self.rivals())
    }

    /// What a host delivers in a slot with AO-NACK at saturation, unslotted,
    /// without aborting: K/(K + 1), 1 where every host has a receiver of its own.
    pub fn nack_saturation(&self) -> f64 {
        self.unslotted_saturation(1.0)
    }

    /// r: share of attempts that lose.
    fn lost(&self) -> f64 {
        self.load / self.rivals()
    }

    /// Mean latency with AO-NACK, unslotted [slots], where a NACK returns `beta`
    /// slots after its packet begins, the host sends again at once, and attempts
    /// are independent; without aborting `beta` has to be 1.
    pub fn nack_latency(&self, beta: f64) -> f64 {
        self.after_losses(beta, beta * beta)
    }

    /// The same where NACKs cut packets short, `beta` up to 1: a packet that comes
    /// back meets the same one again until that is over, after a time that is
    /// uniform from 0 to 1.
    pub fn nack_latency_aborting(&self, beta: f64) -> f64 {
        let attempts = (1.0 / beta).ceil() as u32;
        let moment = |power: i32| -> f64 {
            let after = |i: u32| (i as f64 * beta, beta.min(1.0 - (i - 1) as f64 * beta));
            let all = (1..=attempts).map(after);
            all.map(|(delay, chance)| chance * delay.powi(power)).sum()
        };
        self.after_losses(moment(1), moment(2))
    }

    /// M/G/1: a packet takes a slot, and for each of a geometric number of losses
    /// a time of that mean and mean square.
    fn after_losses(&self, delay: f64, square: f64) -> f64 {
        let r = self.lost();
        let losses = r / (1.0 - r);
        let mean = 1.0 + losses * delay;
        let variance = losses * (square - delay * delay) + losses / (1.0 - r) * delay * delay;
        mean + self.load * (mean * mean + variance) / (2.0 * (1.0 - self.load * mean))
    }

    /// Mean latency with AO-NACK, unslotted [slots], where a NACK returns more than
    /// a slot after its packet begins: `beta`. The host sends on, and what comes
    /// back goes first: M/D/1 with two priorities, if attempts are independent. A
    /// lower bound: they aim at outputs that are busier than others.
    pub fn nack_latency_pipelined(&self, beta: f64) -> f64 {
        let losses = self.lost() / (1.0 - self.lost());
        let (again, all) = (self.load * losses, self.load * (1.0 + losses));
        let wait_again = all / 2.0 / (1.0 - again);
        let wait = wait_again / (1.0 - all);
        1.0 + wait + losses * (beta + wait_again)
    }
}

/// Packets an output receives in a slot if hosts send first in, first out, and
/// losers again, without end, N → ∞: k + 1 − √(k² + 1).
pub fn retrying(receivers: u32) -> f64 {
    let k = receivers as f64;
    k + 1.0 - (k * k + 1.0).sqrt()
}

/// Mean wait before a server that takes a fixed time, at a utilisation [times of
/// service]: M/D/1.
pub fn fixed_service_wait(utilisation: f64) -> f64 {
    utilisation / (2.0 * (1.0 - utilisation))
}

/// Payload over payload, header and guard.
pub fn efficiency(payload: u64, overhead: u64) -> f64 {
    payload as f64 / (payload + overhead) as f64
}

/// The most updates a second that the network carries in GUPS: an update is a
/// request of 8 B, a reply of 16 B and a write of 16 B, each sent in packets of
/// `batch` with header and guard; one in N is local.
pub fn gups_ceiling(hosts: u32, rate_bps: u64, overhead: u64, batch: u32) -> f64 {
    let bytes = 40.0 + 3.0 * overhead as f64 / batch as f64;
    let n = hosts as f64;
    n * rate_bps as f64 / 8.0 / bytes * n / (n - 1.0)
}
