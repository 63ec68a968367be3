//! The state of the Clos as columns: stations, links, and the queues of the
//! flows that are active. Indices are dense; rows are recycled.

use super::layout::{Layout, Path};
use lightloom_engine::{FlowId, Time};

/// End of a chain; no such row.
pub const NONE: u32 = u32::MAX;
/// `Queue::next` of a queue that is not in its station's ring.
const OUT: u32 = u32::MAX - 1;
/// Flag of `Queue::station`: the last hop of its flow.
const LAST: u32 = 1 << 31;
/// Flag of `Queue::station`: a source that has sent nothing.
const FRESH: u32 = 1 << 30;
/// Flag of `Link::bytes`: the link accepts no more packets.
const DOWN: u32 = 1 << 31;

/// Parallel links between two groups of switches, and the ring of flows that they serve.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Station {
    /// First and last queue of the ring.
    head: u32,
    tail: u32,
    /// Start of the chain of idle links.
    free: u32,
    /// Serialisation of a full packet.
    pub full: Time,
    /// Time from the last bit sent until the packet is at the next station.
    pub delay: Time,
    /// Bytes that wait here, without those at their source.
    pub queued: u64,
    /// The largest value of `queued`.
    pub peak: u64,
    /// Bytes on the wire that its links have carried.
    pub carried: u64,
}

/// A flow's packets at one station of its path. Only a flow's last packet may be short, so the
/// number of packets and the position of the short one describe all of them.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// The next queue in the ring.
    next: u32,
    /// The station, and flags.
    station: u32,
    /// Packets that wait.
    packets: u32,
    /// Packets in front of the short one; `NONE` if that is not here.
    ahead: u32,
}

/// A packet on a link. In the row of an idle link, `queue` is the next idle link.
#[derive(Clone, Copy, Debug)]
struct Link {
    queue: u32,
    /// Bytes of the flow in the packet, 0 on an idle link; and a flag.
    bytes: u32,
}

/// An active flow.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The flow.
    pub flow: FlowId,
    /// Size of its last packet if that is short, else of a full packet.
    pub last: u32,
    /// Bytes not yet delivered; 0 in an unused row.
    pub missing: u64,
}

/// Stations, links, queues and active flows.
pub struct Columns {
    /// Stations, by number.
    pub stations: Vec<Station>,
    links: Vec<Link>,
    queues: Vec<Queue>,
    /// Active flows; row `r` owns the queues from `r << stride_log2`.
    pub rows: Vec<Row>,
    unused: Vec<u32>,
    stride_log2: u32,
    mtu: u32,
    buffer: u32,
}

impl Columns {
    /// Empty queues and idle links.
    pub fn new(layout: &Layout, mtu: u32, header: u32, buffer: u32) -> Columns {
        let mut links = vec![
            Link {
                queue: NONE,
                bytes: 0
            };
            layout.links() as usize
        ];
        let stations = (0..layout.stations() as u32).map(|s| {
            let (tier, (first, count)) = (layout.tier(s), layout.links_of(s));
            for l in first..first + count - 1 {
                links[l as usize].queue = l + 1;
            }
            Station {
                head: NONE,
                tail: NONE,
                free: first,
                full: layout.bundles[tier].rate.time_for((mtu + header) as u64),
                delay: layout.delay[tier],
                queued: 0,
                peak: 0,
                carried: 0,
            }
        });
        Columns {
            stations: stations.collect(),
            links,
            queues: Vec::new(),
            rows: Vec::new(),
            unused: Vec::new(),
            stride_log2: layout.stride_log2(),
            mtu,
            buffer,
        }
    }

    /// Whether no flow is active.
    pub fn idle(&self) -> bool {
        self.unused.len() == self.rows.len()
    }

    /// The row that a queue belongs to.
    #[inline]
    pub fn row_of(&self, queue: u32) -> u32 {
        queue >> self.stride_log2
    }

    /// Whether a queue is its flow's source.
    #[inline]
    pub fn is_source(&self, queue: u32) -> bool {
        queue & ((1 << self.stride_log2) - 1) == 0
    }

    /// Whether a queue is at its flow's last hop.
    #[inline]
    pub fn is_last(&self, queue: u32) -> bool {
        self.queues[queue as usize].station & LAST != 0
    }

    /// The station of a queue.
    #[inline]
    pub fn station_of(&self, queue: u32) -> u32 {
        self.queues[queue as usize].station & !(LAST | FRESH)
    }

    /// Whether a packet of `bytes` is full.
    #[inline]
    pub fn is_full(&self, bytes: u32) -> bool {
        bytes == self.mtu
    }

    /// Packets that wait in a queue.
    #[inline]
    pub fn packets(&self, queue: u32) -> u32 {
        self.queues[queue as usize].packets
    }

    /// Gives a flow a row; returns its source queue, which holds all its packets.
    pub fn admit(&mut self, flow: FlowId, bytes: u64, path: &Path) -> u32 {
        let packets = bytes.div_ceil(self.mtu as u64);
        let last = (bytes - (packets - 1) * self.mtu as u64) as u32;
        let entry = Row {
            flow,
            last,
            missing: bytes,
        };
        let row = self.unused.pop().unwrap_or(self.rows.len() as u32);
        let first = (row as usize) << self.stride_log2;
        if row as usize == self.rows.len() {
            self.rows.push(entry);
            let empty = Queue {
                next: OUT,
                station: 0,
                packets: 0,
                ahead: NONE,
            };
            self.queues.resize(first + (1 << self.stride_log2), empty);
        }
        self.rows[row as usize] = entry;
        for (hop, &station) in path.stations().iter().enumerate() {
            self.queues[first + hop] = Queue {
                next: OUT,
                station,
                packets: 0,
                ahead: NONE,
            };
        }
        self.queues[first + path.stations().len() - 1].station |= LAST;
        let source = &mut self.queues[first];
        source.station |= FRESH;
        source.packets = packets as u32;
        if last < self.mtu {
            source.ahead = packets as u32 - 1;
        }
        first as u32
    }

    /// Counts `bytes` of a flow as delivered; returns the flow, and whether these bytes overtook
    /// others, as the last packet can.
    #[inline]
    pub fn deliver(&mut self, queue: u32, bytes: u32) -> (FlowId, bool) {
        let row = self.row_of(queue);
        let entry = &mut self.rows[row as usize];
        entry.missing -= bytes as u64;
        let flow = entry.flow;
        if entry.missing == 0 {
            self.unused.push(row);
            return (flow, false);
        }
        (flow, bytes < self.mtu)
    }

    /// Whether the queue after this one, if any, has room.
    #[inline]
    pub fn room(&self, queue: u32) -> bool {
        self.is_last(queue) || self.queues[queue as usize + 1].packets < self.buffer
    }

    /// Whether a queue just came below its limit, so that the hop before may
    /// serve the flow again.
    #[inline]
    pub fn makes_room(&self, queue: u32) -> bool {
        self.queues[queue as usize].packets + 1 == self.buffer
    }

    /// Clears and returns whether a source has sent nothing so far.
    #[inline]
    pub fn take_fresh(&mut self, queue: u32) -> bool {
        let station = &mut self.queues[queue as usize].station;
        let fresh = *station & FRESH != 0;
        *station &= !FRESH;
        fresh
    }

    /// Adds a packet to its flow's queue.
    #[inline]
    pub fn enqueue(&mut self, queue: u32, bytes: u32) {
        let q = &mut self.queues[queue as usize];
        if bytes < self.mtu {
            q.ahead = q.packets;
        }
        q.packets += 1;
        let station = &mut self.stations[(q.station & !(LAST | FRESH)) as usize];
        station.queued += bytes as u64;
        station.peak = station.peak.max(station.queued);
    }

    /// Removes a queue's first packet; returns its size.
    #[inline]
    pub fn dequeue(&mut self, queue: u32) -> u32 {
        let q = &mut self.queues[queue as usize];
        q.packets -= 1;
        match q.ahead {
            NONE => self.mtu,
            0 => {
                q.ahead = NONE;
                self.rows[self.row_of(queue) as usize].last
            }
            _ => {
                q.ahead -= 1;
                self.mtu
            }
        }
    }

    /// Puts a queue at the end of its station's ring, unless it is in it.
    #[inline]
    pub fn join_ring(&mut self, queue: u32) {
        let q = &mut self.queues[queue as usize];
        if q.next != OUT {
            return;
        }
        q.next = NONE;
        let station = (q.station & !(LAST | FRESH)) as usize;
        let tail = std::mem::replace(&mut self.stations[station].tail, queue);
        if tail == NONE {
            self.stations[station].head = queue;
        } else {
            self.queues[tail as usize].next = queue;
        }
    }

    /// Removes the queue whose turn it is from the ring.
    #[inline]
    pub fn leave_ring(&mut self, station: u32) -> Option<u32> {
        let s = &mut self.stations[station as usize];
        let queue = s.head;
        if queue == NONE {
            return None;
        }
        let q = &mut self.queues[queue as usize];
        s.head = std::mem::replace(&mut q.next, OUT);
        if s.head == NONE {
            s.tail = NONE;
        }
        Some(queue)
    }

    /// Whether a flow waits for its turn at the station.
    #[inline]
    pub fn ring_waits(&self, station: u32) -> bool {
        self.stations[station as usize].head != NONE
    }

    /// Takes an idle link of the station.
    #[inline]
    pub fn take_link(&mut self, station: u32) -> Option<u32> {
        let s = &mut self.stations[station as usize];
        let link = s.free;
        if link == NONE {
            return None;
        }
        s.free = self.links[link as usize].queue;
        Some(link)
    }

    /// Marks a link as idle.
    #[inline]
    pub fn free_link(&mut self, station: u32, link: u32) {
        let s = &mut self.stations[station as usize];
        self.links[link as usize] = Link {
            queue: s.free,
            bytes: 0,
        };
        s.free = link;
    }

    /// Puts a packet on a link.
    #[inline]
    pub fn load(&mut self, link: u32, queue: u32, bytes: u32) {
        self.links[link as usize] = Link { queue, bytes };
    }

    /// The packet on a busy link: its queue at the link's station, and its bytes; and whether the
    /// link accepts another packet.
    #[inline]
    pub fn on_link(&self, link: u32) -> (u32, u32, bool) {
        let l = self.links[link as usize];
        (l.queue, l.bytes & !DOWN, l.bytes & DOWN == 0)
    }

    /// Marks a failed link as idle after its last packet.
    #[cold]
    pub fn leave_down(&mut self, link: u32) {
        self.links[link as usize] = Link {
            queue: NONE,
            bytes: DOWN,
        };
    }

    /// Makes a link fail or work again: a busy one after its packet, an idle one at once.
    pub fn set_down(&mut self, station: u32, link: u32, down: bool) {
        let bytes = self.links[link as usize].bytes;
        match (bytes & DOWN != 0, down) {
            (false, true) if bytes == 0 => self.withdraw(station, link),
            (false, true) => self.links[link as usize].bytes |= DOWN,
            (true, false) if bytes == DOWN => self.free_link(station, link),
            (true, false) => self.links[link as usize].bytes &= !DOWN,
            _ => {}
        }
    }

    /// Removes an idle link from its station's chain.
    fn withdraw(&mut self, station: u32, link: u32) {
        let behind = self.links[link as usize].queue;
        let mut before = self.stations[station as usize].free;
        if before == link {
            self.stations[station as usize].free = behind;
        } else {
            while self.links[before as usize].queue != link {
                before = self.links[before as usize].queue;
            }
            self.links[before as usize].queue = behind;
        }
        self.leave_down(link);
    }

    /// Bytes on links, summed over every link.
    pub fn bytes_on_links(&self) -> u64 {
        self.links.iter().map(|l| (l.bytes & !DOWN) as u64).sum()
    }

    /// Bytes that wait at their sources, and bytes that wait in the network, summed over every
    /// queue.
    pub fn bytes_waiting(&self) -> (u64, u64) {
        let (mut sources, mut network) = (0, 0);
        for (r, row) in self.rows.iter().enumerate().filter(|(_, r)| r.missing > 0) {
            let first = r << self.stride_log2;
            for (hop, q) in self.queues[first..].iter().enumerate() {
                let mut bytes = q.packets as u64 * self.mtu as u64;
                if q.ahead != NONE {
                    bytes -= (self.mtu - row.last) as u64;
                }
                *(if hop == 0 { &mut sources } else { &mut network }) += bytes;
                if q.station & LAST != 0 {
                    break;
                }
            }
        }
        (sources, network)
    }
}
