//! The free ports, as bitsets of racks for each plane and of planes for each rack.

use super::Hardware;

/// A set of planes.
pub(super) type Planes = u128;

/// The free ports of all racks.
pub(super) struct Ports {
    racks: usize,
    /// 64-bit words of a set of racks.
    pub words: usize,
    /// Free ports of each rack on each plane, plane by plane.
    count: Vec<u32>,
    /// Racks with a free port, plane by plane.
    racks_on: Vec<u64>,
    /// Planes on which each rack has a free port.
    planes_of: Vec<Planes>,
    /// For each rack, the racks to which no circuit may connect it; empty if there are none.
    apart: Vec<u64>,
    free: u64,
}

impl Ports {
    /// Without free ports.
    pub fn new(hardware: &Hardware) -> Ports {
        let (racks, planes) = (hardware.racks as usize, hardware.planes as usize);
        let words = racks.div_ceil(64);
        Ports {
            racks,
            words,
            count: vec![0; racks * planes],
            racks_on: vec![0; words * planes],
            planes_of: vec![0; racks],
            apart: Vec::new(),
            free: 0,
        }
    }

    /// Prevents new circuits between the racks of these pairs.
    pub fn keep_apart(&mut self, pairs: &[(u32, u32)]) {
        if pairs.is_empty() {
            return;
        }
        self.apart.resize(self.racks * self.words, 0);
        for &(a, b) in pairs {
            for (rack, other) in [(a as usize, b as usize), (b as usize, a as usize)] {
                self.apart[rack * self.words + other / 64] |= 1 << (other % 64);
            }
        }
    }

    /// Whether any pair of racks is kept apart.
    pub fn keeps_apart(&self) -> bool {
        !self.apart.is_empty()
    }

    /// Whether a rack has exactly one free port on a plane.
    pub fn single(&self, rack: u32, plane: u32) -> bool {
        self.count[plane as usize * self.racks + rack as usize] == 1
    }

    fn are_apart(&self, a: u32, b: u32) -> bool {
        let (rack, other) = (a as usize, b as usize);
        let word = self.apart.get(rack * self.words + other / 64);
        word.is_some_and(|word| word >> (other % 64) & 1 != 0)
    }

    /// Frees `each` ports of every rack on every plane.
    pub fn free_all(&mut self, each: u32) {
        for at in 0..self.count.len() {
            for _ in 0..each {
                self.free((at % self.racks) as u32, (at / self.racks) as u32);
            }
        }
    }

    /// Frees one port.
    pub fn free(&mut self, rack: u32, plane: u32) {
        let (rack, plane) = (rack as usize, plane as usize);
        let count = &mut self.count[plane * self.racks + rack];
        *count += 1;
        self.planes_of[rack] |= 1 << plane;
        self.racks_on[plane * self.words + rack / 64] |= 1 << (rack % 64);
        self.free += 1;
    }

    /// Uses a free port.
    pub fn take(&mut self, rack: u32, plane: u32) {
        let (rack, plane) = (rack as usize, plane as usize);
        let count = &mut self.count[plane * self.racks + rack];
        *count = count.checked_sub(1).expect("only free ports are taken");
        if *count == 0 {
            self.planes_of[rack] &= !(1 << plane);
            self.racks_on[plane * self.words + rack / 64] &= !(1 << (rack % 64));
        }
        self.free -= 1;
    }

    /// Whether any port is free.
    pub fn any_free(&self) -> bool {
        self.free > 0
    }

    /// Planes on which both racks have a free port; none if they are kept apart.
    pub fn common(&self, a: u32, b: u32) -> Planes {
        if self.are_apart(a, b) {
            return 0;
        }
        self.planes_of[a as usize] & self.planes_of[b as usize]
    }

    /// Adds all racks that have a free port on a common plane with `rack` and are not kept apart
    /// from it; also `rack` itself if it has a free port.
    pub fn add_neighbours(&self, rack: u32, set: &mut [u64]) {
        if self.apart.is_empty() {
            return self.add_on_planes(rack, set);
        }
        let mut near = vec![0; self.words];
        self.add_on_planes(rack, &mut near);
        let apart = &self.apart[rack as usize * self.words..][..self.words];
        for ((word, near), apart) in set.iter_mut().zip(near).zip(apart) {
            *word |= near & !apart;
        }
    }

    fn add_on_planes(&self, rack: u32, set: &mut [u64]) {
        let mut planes = self.planes_of[rack as usize];
        while planes != 0 {
            let plane = planes.trailing_zeros() as usize;
            planes &= planes - 1;
            let racks = &self.racks_on[plane * self.words..][..self.words];
            for (word, racks) in set.iter_mut().zip(racks) {
                *word |= racks;
            }
        }
    }
}
