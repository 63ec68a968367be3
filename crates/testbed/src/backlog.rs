//! The queues of the interfaces of a namespace, from rtnetlink: the bytes that a shaper holds
//! back, and the packets that it dropped because its queue was full.

use super::namespace::within;
use netlink_sys::{protocols::NETLINK_ROUTE, Socket, SocketAddr};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The buffer for one answer of the kernel [B].
const ROOM: usize = 1 << 16;
/// The request for the queueing disciplines of all interfaces (`RTM_GETQDISC`).
const GET: u16 = 38;
/// An answer that describes a discipline (`RTM_NEWQDISC`).
const NEW: u16 = 36;
/// A request for all entries (`NLM_F_REQUEST | NLM_F_DUMP`).
const FLAGS: u16 = 0x301;
/// The types of the last answer and of an error.
const DONE: u16 = 3;
const ERROR: u16 = 2;
/// The sizes of a message's header and of the `struct tcmsg` after it [B].
const HEADER: usize = 16;
const ABOUT: usize = 20;
/// The parent of an interface's root discipline, which holds all packets to be sent (`TC_H_ROOT`).
const ROOT: u32 = u32::MAX;
/// Attributes: the statistics (`TCA_STATS2`), which contain the queue (`TCA_STATS_QUEUE`).
const STATS: u16 = 7;
const QUEUE: u16 = 3;

/// The queue of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Bytes that wait.
    pub bytes: u32,
    /// Packets dropped because the queue was full, since the start.
    pub drops: u32,
}

/// An rtnetlink socket in a namespace; it is opened once and used for every request.
pub struct Backlog {
    socket: Socket,
    room: Vec<u8>,
}

impl Backlog {
    /// Opens the socket in a namespace.
    ///
    /// # Errors
    /// If the namespace cannot be entered.
    pub fn of(namespace: &Path) -> io::Result<Backlog> {
        let socket = within(namespace, || {
            let mut socket = Socket::new(NETLINK_ROUTE)?;
            socket.bind_auto()?;
            socket.connect(&SocketAddr::new(0, 0))?;
            Ok(socket)
        })?;
        Ok(Backlog {
            socket,
            room: vec![0; ROOM],
        })
    }

    /// The queue of each interface, by its index.
    ///
    /// # Errors
    /// If the kernel refuses the request.
    pub fn read(&mut self) -> io::Result<BTreeMap<u32, Queue>> {
        self.socket.send(&request(), 0)?;
        let mut queues = BTreeMap::new();
        loop {
            let size = self.socket.recv(&mut &mut self.room[..], 0)?;
            if !add(&self.room[..size], &mut queues)? {
                return Ok(queues);
            }
        }
    }
}

fn request() -> Vec<u8> {
    let mut bytes = ((HEADER + ABOUT) as u32).to_ne_bytes().to_vec();
    bytes.extend(GET.to_ne_bytes());
    bytes.extend(FLAGS.to_ne_bytes());
    bytes.resize(HEADER + ABOUT, 0);
    bytes
}

/// Adds the queues of an answer; returns whether more answers follow.
fn add(answer: &[u8], queues: &mut BTreeMap<u32, Queue>) -> io::Result<bool> {
    let mut rest = answer;
    while rest.len() >= HEADER {
        let length = word(rest, 0) as usize;
        if length < HEADER || length > rest.len() {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        let body = &rest[HEADER..length];
        match half(rest, 4) {
            DONE => return Ok(false),
            ERROR if body.len() >= 4 => {
                return Err(io::Error::from_raw_os_error(-(word(body, 0) as i32)));
            }
            NEW if body.len() >= ABOUT && word(body, 12) == ROOT => {
                let stats = find(&body[ABOUT..], STATS).and_then(|stats| find(stats, QUEUE));
                // The fields are the waiting packets, their bytes, and the dropped packets.
                if let Some(stats) = stats.filter(|stats| stats.len() >= 12) {
                    let (bytes, drops) = (word(stats, 4), word(stats, 8));
                    queues.insert(word(body, 4), Queue { bytes, drops });
                }
            }
            _ => {}
        }
        rest = &rest[length.next_multiple_of(4).min(rest.len())..];
    }
    Ok(true)
}

/// The content of the first attribute of a type; `None` if it is truncated.
fn find(attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    let mut rest = attributes;
    while rest.len() >= 4 {
        let length = half(rest, 0) as usize;
        let content = rest.get(4..length)?;
        // The two highest bits of the type are flags.
        if half(rest, 2) & 0x3fff == wanted {
            return Some(content);
        }
        rest = &rest[length.next_multiple_of(4).min(rest.len())..];
    }
    None
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([bytes[at], bytes[at + 1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, content: &[u8]) -> Vec<u8> {
        let mut bytes = ((4 + content.len()) as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.resize(HEADER, 0);
        bytes.extend(body);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn discipline(interface: u32, parent: u32, queue: [u32; 3]) -> Vec<u8> {
        let mut body = vec![0; ABOUT];
        body[4..8].copy_from_slice(&interface.to_ne_bytes());
        body[12..16].copy_from_slice(&parent.to_ne_bytes());
        body.extend(attribute(1, b"tbf\0"));
        let queue: Vec<u8> = queue.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let stats = [attribute(1, &[9; 12]), attribute(QUEUE, &queue)].concat();
        body.extend(attribute(STATS, &stats));
        message(NEW, &body)
    }

    #[test]
    fn queues_of_roots_count_and_not_those_within() {
        let mut queues = BTreeMap::new();
        let answer = [
            discipline(3, ROOT, [2, 3000, 5]),
            discipline(3, 0x10002, [1, 1500, 4]),
            discipline(7, ROOT, [0, 0, 0]),
        ];
        assert!(add(&answer.concat(), &mut queues).unwrap());
        assert!(!add(&message(DONE, &[0; 4]), &mut queues).unwrap());
        let full = Queue {
            bytes: 3000,
            drops: 5,
        };
        assert_eq!(queues, BTreeMap::from([(3, full), (7, Queue::default())]));
    }

    #[test]
    fn errors_and_broken_answers_are_refused() {
        let refused = add(
            &message(ERROR, &(-1i32).to_ne_bytes()),
            &mut BTreeMap::new(),
        );
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(1));
        let mut long = message(DONE, &[]);
        long[0] = 200;
        assert!(add(&long, &mut BTreeMap::new()).is_err());
        let cut = &attribute(STATS, &[1; 8])[..8];
        assert_eq!(find(cut, STATS), None);
    }
}
