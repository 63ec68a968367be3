//! Closed forms for LIONS. Tests compare the simulation with them, and plots show them beside
//! measured points.
//!
//! Symbols: N hosts; k receivers per output; n = N/k hosts per wavegroup; p offered load of a host
//! in packets per slot, uniform over all N hosts, itself included; a = p/k. A slot is a packet and
//! the gap after it.

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

    /// Mean wait in distributed loop-back buffers with wavegroups of every k-th input, slotted, k
    /// even [slots]; exact except for transmitters. Hosts, on every second port, are in one half of
    /// the groups and their queues in the other. A queue without competitors therefore serves the
    /// excess packets of a slot from the next slot on.
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

    /// Mean latency with a shared loop-back buffer, unslotted [slots]: transmission, M/D/1 at the
    /// host, and the buffer; with k = 1 the buffer is M/D/1 for all packets except the host's own.
    pub fn shared_latency(&self) -> f64 {
        1.0 + fixed_service_wait(self.load) + self.shared_detour()
    }

    /// Share of packets that distributed or mixed loop-back buffers store, unslotted: l = (n −
    /// 1)/(n − a)·a. A link is busy for a share a of the time; of this, a host's own packets, which
    /// do not block it, take a(1 − l)/n.
    pub fn distributed_lost(&self) -> f64 {
        let (a, n) = (self.load / self.receivers, self.group());
        (n - 1.0) / (n - a) * a
    }

    /// Mean wait of a stored packet for its receiver [slots], unslotted, distributed or mixed
    /// loop-back buffers, k even, if its request comes `before` slots after it has lost: (1 − 2/3n)
    /// · a/((1 − a)(1 + 2a)) if it comes at once.
    ///
    /// Groups of contiguous inputs form pairs; each group stores packets for which the other's
    /// receiver is too busy. Let V and V′ be the remaining work of two such receivers, with queues;
    /// each decreases by 1 per slot. A host's packet, from a Poisson stream of rate a per slot for
    /// each, adds to its own receiver's work if that is 0, otherwise to the other's. V > 0 for a
    /// share a of the time, and the wait is W = E\[V′ | V > 0\]. In equilibrium E\[V²\] and
    /// E\[VV′\] do not change, so
    ///
    /// - 2E\[V\] = a + 2a·aW,
    /// - 2aW = 2a(2E\[V\] − aW), and W(1 + a) = 2E\[V\] = a + 2a²W.
    ///
    /// A packet at a random time would wait a/2. A packet that lost also waits for earlier packets
    /// that lost to the same packet (a/3), and finds the other receiver busy because its own was
    /// used for a packet of the other group (a/6), to first order in a. This is exact for many
    /// hosts whose packets send requests as soon as they lose. With n hosts, neither the host of
    /// the packet nor that of the packet it lost to sends an earlier loser: a/3 · (n − 2)/n. With
    /// 16 hosts and a = 0.23 the total is 1 % too large.
    ///
    /// If requests come later, the last part decreases as (1 − before)³, which is exact to first
    /// order in a and a lower bound beyond: packets that are stored completely have 5/6. Not valid
    /// for k = 1, where a packet requests the receiver that it lost, for odd k, for groups of every
    /// k-th input, or if m transmitters do not suffice.
    pub fn distributed_retry(&self, before: f64) -> f64 {
        let (a, n) = (self.load / self.receivers, self.group());
        let late = (5.0 + (1.0 - before).max(0.0).powi(3)) / 6.0;
        late * (1.0 - 2.0 / (3.0 * n)) * a / ((1.0 - a) * (1.0 + 2.0 * a))
    }

    /// Mean additional time of a packet, stored or not, with distributed or mixed loop-back
    /// buffers, unslotted, k even [slots]. The request of a stored packet comes `before` slots
    /// after it has lost: tuning, arbitration, and the wire unless it cuts through.
    pub fn distributed_detour(&self, before: f64) -> f64 {
        self.distributed_lost() * (before + self.distributed_retry(before))
    }

    /// Mean latency with distributed or mixed loop-back buffers, unslotted, k even [slots]: the
    /// time of a packet `alone`, M/D/1 at its host, and the additional time.
    pub fn distributed_latency(&self, alone: f64, before: f64) -> f64 {
        alone + fixed_service_wait(self.load) + self.distributed_detour(before)
    }

    /// Mean additional time of a packet, stored or not, with the shared buffer, unslotted, if
    /// packets cut through [slots]; approximate.
    ///
    /// All packets that lost request the receiver of group 0. It receives every packet of its own
    /// group, at once or later, and the losers of the other groups, which arrive at a rate of c =
    /// (n − 1)/n · a while their receivers are busy, b = a/(1 + c) of the time. Let V₀ and V be the
    /// remaining work of this receiver and of one of the others, u = a + (k − 1)cb its load, X =
    /// E\[V₀; V > 0\]. In equilibrium E\[V₀²\] and E\[V₀V\] do not change, so
    ///
    /// - 2(1 − a)E\[V₀\] = u + 2(k − 1)cX,
    /// - (1 + a)X = aE\[V₀\] + b(a + c + (k − 2)cb)/2 − Y, with Y = E\[V; V₀ > 0\].
    ///
    /// For Y, group 0's receiver is busy with probability α when another one becomes busy, and
    /// becomes busy at a rate of c(1 − α) per slot while that lasts, where α is such that it is
    /// busy for a share u of the time: (1 − cb/2)α = u − cb/2. Losers are (n − 1)/n of the packets
    /// that find a receiver busy; the others find it busy with packets of their own host.
    pub fn shared_detour(&self) -> f64 {
        let (k, a, n) = (self.receivers, self.load / self.receivers, self.group());
        let c = (n - 1.0) / n * a;
        let b = a / (1.0 + c);
        let used = a + (k - 1.0) * c * b;
        let start = (used - c * b / 2.0) / (1.0 - c * b / 2.0);
        let both = b * (start / 2.0 + c * (1.0 - start) / 6.0);
        // X = (aE[V₀] + rest)/(1 + a), put into the first equation.
        let rest = b * (a + c + (k - 2.0) * c * b) / 2.0 - both;
        let share = (k - 1.0) * c / (1.0 + a);
        let first = (used / 2.0 + share * rest) / (1.0 - a - share * a);
        let other = (a * first + rest) / (1.0 + a);
        (n - 1.0) / n * (first + (k - 1.0) * other) / k
    }

    /// K = k·n/(n − 1): a packet competes with the others of its wavegroup.
    fn rivals(&self) -> f64 {
        self.receivers * self.group() / (self.group() - 1.0)
    }

    /// Packets that a host delivers per slot at saturation, unslotted, if losers are dropped and a
    /// receiver is occupied for `heard` of a slot (less than 1 if converters tune longer than
    /// receivers settle): K/(K + heard).
    pub fn unslotted_saturation(&self, heard: f64) -> f64 {
        1.0 / (1.0 + heard / self.rivals())
    }

    /// Packets that a host delivers per slot with AO-NACK at saturation, unslotted, without
    /// aborting: K/(K + 1), or 1 if every host has a receiver of its own.
    pub fn nack_saturation(&self) -> f64 {
        self.unslotted_saturation(1.0)
    }

    /// r: share of attempts that lose.
    fn lost(&self) -> f64 {
        self.load / self.rivals()
    }

    /// Mean latency with AO-NACK, unslotted [slots], if a NACK returns `beta` slots after its
    /// packet begins, the host retransmits immediately, and attempts are independent; without
    /// aborting `beta` has to be 1.
    pub fn nack_latency(&self, beta: f64) -> f64 {
        self.after_losses(beta, beta * beta)
    }

    /// Mean latency with AO-NACK, unslotted [slots], if NACKs cut packets short; `beta` is at
    /// most 1. A retransmitted packet meets the same packet as before until that one ends, after a
    /// time that is uniformly distributed between 0 and 1.
    pub fn nack_latency_aborting(&self, beta: f64) -> f64 {
        let attempts = (1.0 / beta).ceil() as u32;
        let moment = |power: i32| -> f64 {
            let after = |i: u32| (i as f64 * beta, beta.min(1.0 - (i - 1) as f64 * beta));
            let all = (1..=attempts).map(after);
            all.map(|(delay, chance)| chance * delay.powi(power)).sum()
        };
        self.after_losses(moment(1), moment(2))
    }

    /// M/G/1: the service of a packet takes a slot and, for each of a geometrically distributed
    /// number of losses, a time with mean `delay` and mean square `square`.
    fn after_losses(&self, delay: f64, square: f64) -> f64 {
        let r = self.lost();
        let losses = r / (1.0 - r);
        let mean = 1.0 + losses * delay;
        let variance = losses * (square - delay * delay) + losses / (1.0 - r) * delay * delay;
        mean + self.load * (mean * mean + variance) / (2.0 * (1.0 - self.load * mean))
    }

    /// Mean latency with AO-NACK, unslotted [slots], if a NACK returns more than a slot after its
    /// packet begins: `beta`. The host continues to send, and returned packets go first: M/D/1 with
    /// two priorities, if attempts are independent. This is a lower bound, because attempts go to
    /// outputs that are busier than others.
    pub fn nack_latency_pipelined(&self, beta: f64) -> f64 {
        let losses = self.lost() / (1.0 - self.lost());
        let (again, all) = (self.load * losses, self.load * (1.0 + losses));
        let wait_again = all / 2.0 / (1.0 - again);
        let wait = wait_again / (1.0 - all);
        1.0 + wait + losses * (beta + wait_again)
    }
}

/// Packets that an output receives per slot if hosts send first in, first out and retransmit losers
/// until they are delivered, N → ∞: k + 1 − √(k² + 1).
pub fn retrying(receivers: u32) -> f64 {
    let k = receivers as f64;
    k + 1.0 - (k * k + 1.0).sqrt()
}

/// Mean wait for a server with fixed service time at a utilisation [service times]: M/D/1.
pub fn fixed_service_wait(utilisation: f64) -> f64 {
    utilisation / (2.0 * (1.0 - utilisation))
}

/// Share of payload in payload, header and guard.
pub fn efficiency(payload: u64, overhead: u64) -> f64 {
    payload as f64 / (payload + overhead) as f64
}

/// Largest number of GUPS updates per second that the network carries: an update is a request of 8
/// B, a reply of 16 B and a write of 16 B, sent in packets of `batch` messages with header and
/// guard; one update in N is local.
pub fn gups_ceiling(hosts: u32, rate_bps: u64, overhead: u64, batch: u32) -> f64 {
    let bytes = 40.0 + 3.0 * overhead as f64 / batch as f64;
    let n = hosts as f64;
    n * rate_bps as f64 / 8.0 / bytes * n / (n - 1.0)
}
