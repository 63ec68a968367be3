//! The packets in every virtual channel's buffer, in order: linked lists whose places come
//! from one pool, so that a deep buffer takes no more memory than the packets in it.

use super::hosts::NONE;

/// The places of all lists.
#[derive(Clone, Debug, Default)]
pub struct Chains {
    /// The packet of each place, and the place behind it in its list.
    rows: Vec<(u32, u32)>,
    free: Vec<u32>,
}

impl Chains {
    /// Reserves a place for a packet, without a successor.
    #[inline]
    pub fn add(&mut self, packet: u32) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.rows[place as usize] = (packet, NONE);
                place
            }
            None => {
                self.rows.push((packet, NONE));
                self.rows.len() as u32 - 1
            }
        }
    }

    /// Appends a place to the list that ends with `last`.
    #[inline]
    pub fn link(&mut self, last: u32, place: u32) {
        self.rows[last as usize].1 = place;
    }

    /// The packet of a place.
    #[inline]
    pub fn packet(&self, place: u32) -> u32 {
        self.rows[place as usize].0
    }

    /// Frees the first place of a list. Returns its packet and the place behind it.
    #[inline]
    pub fn remove(&mut self, place: u32) -> (u32, u32) {
        self.free.push(place);
        self.rows[place as usize]
    }
}
