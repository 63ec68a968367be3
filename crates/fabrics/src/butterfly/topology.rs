//! The wiring of a k-ary n-flat (Kim, Dally and Abts, ISCA 2007).
//!
//! Host h is terminal h mod c of router ⌊h/c⌋. A router's number follows from its coordinates, of
//! which the first varies fastest. In every dimension it has a wire to each router that differs
//! only in that coordinate. Its ports are its c terminals, then, for each dimension, the wires to
//! the other coordinates in ascending order.

/// The wiring.
#[derive(Clone, Debug)]
pub struct Topology {
    /// c: hosts of a router.
    pub concentration: usize,
    /// Routers along each dimension.
    pub sizes: Vec<usize>,
    /// Number of routers.
    pub routers: usize,
    /// Ports of a router: its radix.
    pub radix: usize,
}

impl Topology {
    /// Creates the topology of a shape.
    pub fn new(concentration: u32, sizes: &[u32]) -> Topology {
        let sizes: Vec<usize> = sizes.iter().map(|&k| k as usize).collect();
        let concentration = concentration as usize;
        Topology {
            routers: sizes.iter().product(),
            radix: concentration + sizes.iter().map(|k| k - 1).sum::<usize>(),
            concentration,
            sizes,
        }
    }

    /// The router of a host.
    pub fn router(&self, host: usize) -> usize {
        host / self.concentration
    }

    /// The port on the dimension-ordered path to another router; `None` if it is the same router.
    #[inline]
    pub fn towards(&self, from: usize, to: usize) -> Option<usize> {
        let (mut a, mut b, mut first) = (from, to, self.concentration);
        for &size in &self.sizes {
            let (x, y) = (a % size, b % size);
            if x != y {
                return Some(first + y - (y > x) as usize);
            }
            (a, b, first) = (a / size, b / size, first + size - 1);
        }
        None
    }

    /// Number of wires on a minimal path: the number of coordinates that differ.
    pub fn distance(&self, from: usize, to: usize) -> usize {
        let (mut a, mut b, mut differ) = (from, to, 0);
        for &size in &self.sizes {
            differ += (a % size != b % size) as usize;
            (a, b) = (a / size, b / size);
        }
        differ
    }

    /// The router and port at the other end of a port beyond the terminals.
    pub fn far_end(&self, router: usize, port: usize) -> FarEnd {
        let (mut offset, mut stride) = (port - self.concentration, 1);
        for &size in &self.sizes {
            if offset < size - 1 {
                let own = router / stride % size;
                let other = offset + (offset >= own) as usize;
                let to = router + other * stride - own * stride;
                let back = self.towards(to, router).expect("another router");
                return FarEnd {
                    router: to,
                    port: back,
                    steps: own.abs_diff(other),
                };
            }
            (offset, stride) = (offset - (size - 1), stride * size);
        }
        unreachable!("port {port} of {}", self.radix)
    }
}

/// The other end of a wire between routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarEnd {
    /// Its router.
    pub router: usize,
    /// Its port there.
    pub port: usize,
    /// Its distance, in steps between neighbours.
    pub steps: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §IV of LIONS: 4 × 4 routers of radix 10 for 64 nodes.
    #[test]
    fn the_network_of_lions() {
        let t = Topology::new(4, &[4, 4]);
        assert_eq!((t.routers, t.radix), (16, 10));
        assert_eq!([0, 3, 4, 63].map(|h| t.router(h)), [0, 0, 1, 15]);
        // Router 5 is (1, 1): its row is 4 to 7, its column 1, 5, 9, 13.
        let ends: Vec<(usize, usize)> = (4..10)
            .map(|p| (t.far_end(5, p).router, t.far_end(5, p).steps))
            .collect();
        assert_eq!(ends, [(4, 1), (6, 1), (7, 2), (1, 1), (9, 1), (13, 2)]);
        assert_eq!(t.towards(5, 5), None);
        // To (3, 2), the path takes the row first.
        assert_eq!(t.towards(5, 11), Some(6));
        assert_eq!(t.distance(5, 11), 2);
    }

    /// Wires have two ends, and the length of a path is the number of coordinates that differ.
    #[test]
    fn wires_and_ways_of_any_shape() {
        for (c, sizes) in [
            (1, vec![1]),
            (3, vec![2]),
            (2, vec![5]),
            (4, vec![4, 4]),
            (1, vec![2, 3, 4]),
            (2, vec![3, 1, 2]),
            (2, vec![2, 2, 2, 2]),
        ] {
            let t = Topology::new(c, &sizes);
            for router in 0..t.routers {
                for port in t.concentration..t.radix {
                    let end = t.far_end(router, port);
                    let back = t.far_end(end.router, end.port);
                    assert_eq!((back.router, back.port), (router, port));
                    assert_eq!(t.distance(router, end.router), 1);
                }
                for to in 0..t.routers {
                    let (mut at, mut wires) = (router, 0);
                    while let Some(port) = t.towards(at, to) {
                        at = t.far_end(at, port).router;
                        wires += 1;
                    }
                    assert_eq!((at, wires), (to, t.distance(router, to)));
                }
            }
        }
    }
}
