//! The odd cycles that form blossoms, as lists of their nodes.

/// A child of a blossom, and the edge to the next child of the cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub child: u32,
    /// A vertex of `child`.
    pub from: u32,
    /// A vertex of the next child.
    pub to: u32,
}

/// Reverses the path from a node up to its ancestor into the path down from the ancestor, which
/// continues with `edge`.
pub(super) fn turn_downwards(links: &mut Vec<Link>, ancestor: u32, mut edge: (u32, u32)) {
    for link in links.iter_mut() {
        let back = (link.to, link.from);
        (link.from, link.to) = edge;
        edge = back;
    }
    links.push(Link {
        child: ancestor,
        from: edge.0,
        to: edge.1,
    });
    links.reverse();
}

/// Rotates a cycle so that it begins at `at` and continues with a matched edge; returns the number
/// of steps from there to the base.
pub(super) fn turn_to_base(links: &mut [Link], at: usize) -> usize {
    let len = links.len();
    if at % 2 == 1 {
        links.rotate_left(at);
        return len - at;
    }
    links.reverse();
    links.rotate_left(len - 1 - at);
    // In the other direction, an edge belongs to its other end.
    let (from, to) = (links[0].from, links[0].to);
    for k in 0..len {
        let edge = links
            .get(k + 1)
            .map_or((to, from), |next| (next.to, next.from));
        (links[k].from, links[k].to) = edge;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cycle of nodes 0, 10, 20, …; the edge from node k to l goes from vertex
    /// k + 1 to l + 2.
    fn cycle(len: u32) -> Vec<Link> {
        let next = |k| (k + 1) % len;
        (0..len)
            .map(|k| Link {
                child: 10 * k,
                from: 10 * k + 1,
                to: 10 * next(k) + 2,
            })
            .collect()
    }

    #[test]
    fn the_way_to_the_base_begins_with_a_matched_edge() {
        for at in 0..7 {
            let mut links = cycle(7);
            let steps = turn_to_base(&mut links, at);
            assert_eq!(links[0].child, 10 * at as u32);
            assert_eq!(links[steps].child, 0);
            assert_eq!(steps % 2, 0);
            // Matched are 1–2, 3–4 and 5–6, at places 10–20, 30–40 and 50–60.
            for step in (0..steps).step_by(2) {
                let (low, high) = (links[step].child, links[step + 1].child);
                assert_eq!((low.max(high) - low.min(high), low.max(high) % 20), (10, 0));
            }
            for (link, next) in links.iter().zip(links.iter().cycle().skip(1)) {
                assert_eq!(
                    (link.from / 10, link.to / 10),
                    (link.child / 10, next.child / 10)
                );
            }
        }
    }

    #[test]
    fn a_way_up_becomes_the_way_down() {
        // 0 to 10 to 20, the ancestor; and 0 goes on to vertex 42.
        let mut links = cycle(5)[..2].to_vec();
        turn_downwards(&mut links, 20, (7, 42));
        let expected = [(20, 22, 11), (10, 12, 1), (0, 7, 42)];
        assert_eq!(
            links,
            expected.map(|(child, from, to)| Link { child, from, to })
        );
    }
}
