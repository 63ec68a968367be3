//! Frames that wait for a circuit, in reused buffers.

use std::collections::VecDeque;

/// A frame in its buffer.
pub struct Frame {
    buffer: Vec<u8>,
    length: usize,
    /// The destination host.
    pub to: usize,
    /// When the frame arrived [ns].
    pub at: u64,
}

impl Frame {
    /// The bytes of the frame.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

/// A queue for each pair of racks; all queues share one pool of buffers.
pub struct Queues {
    racks: usize,
    queues: Vec<VecDeque<Frame>>,
    waiting: Vec<u64>,
    unused: Vec<Vec<u8>>,
}

impl Queues {
    /// Empty queues with `frames` buffers of `size` bytes.
    pub fn new(racks: u32, frames: usize, size: usize) -> Queues {
        let racks = racks as usize;
        Queues {
            racks,
            queues: (0..racks * racks).map(|_| VecDeque::new()).collect(),
            waiting: vec![0; racks * racks],
            unused: (0..frames).map(|_| vec![0; size]).collect(),
        }
    }

    /// The queue of frames from a rack to another rack.
    pub fn of(&self, from: u32, to: u32) -> usize {
        from as usize * self.racks + to as usize
    }

    /// A buffer for the next frame; `None` if all are in use.
    pub fn buffer(&mut self) -> Option<&mut Vec<u8>> {
        self.unused.last_mut()
    }

    /// Appends the frame that was read into that buffer to a queue.
    pub fn push(&mut self, queue: usize, length: usize, to: usize, at: u64) {
        if let Some(buffer) = self.unused.pop() {
            let frame = Frame {
                buffer,
                length,
                to,
                at,
            };
            self.waiting[queue] += length as u64;
            self.queues[queue].push_back(frame);
        }
    }

    /// The first frame of a queue.
    pub fn front(&self, queue: usize) -> Option<&Frame> {
        self.queues[queue].front()
    }

    /// Removes the first frame of a queue and returns its length.
    pub fn pop(&mut self, queue: usize) -> u64 {
        let Some(frame) = self.queues[queue].pop_front() else {
            return 0;
        };
        let length = frame.length as u64;
        self.waiting[queue] -= length;
        self.unused.push(frame.buffer);
        length
    }

    /// The bytes in a queue.
    pub fn waiting(&self, queue: usize) -> u64 {
        self.waiting[queue]
    }
}

/// The rack of a host and the host's number in the rack, from its MAC address: 02:4c, then two
/// bytes for each number. `None` for other addresses.
pub fn place_of(mac: &[u8]) -> Option<(u32, u32)> {
    match *mac {
        [0x02, 0x4c, a, b, c, d] => Some((
            u32::from(u16::from_be_bytes([a, b])),
            u32::from(u16::from_be_bytes([c, d])),
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_leave_in_order_and_give_their_buffers_back() {
        let mut queues = Queues::new(2, 2, 64);
        let queue = queues.of(0, 1);
        for (at, byte) in [7u8, 8].into_iter().enumerate() {
            queues.buffer().unwrap()[0] = byte;
            queues.push(queue, 60 + at, 3, 5);
        }
        assert!(queues.buffer().is_none());
        assert_eq!(queues.waiting(queue), 121);
        assert_eq!(queues.front(queue).unwrap().bytes()[0], 7);
        assert_eq!(queues.pop(queue), 60);
        assert_eq!(queues.front(queue).unwrap().bytes()[0], 8);
        assert!(queues.buffer().is_some());
        assert_eq!((queues.pop(queue), queues.pop(queue)), (61, 0));
        assert_eq!(queues.waiting(queue), 0);
    }

    #[test]
    fn an_address_says_where_its_host_is() {
        assert_eq!(place_of(&[2, 0x4c, 1, 2, 0, 3]), Some((258, 3)));
        assert_eq!(place_of(&[0xff; 6]), None);
    }
}
