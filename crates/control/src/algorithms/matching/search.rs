//! One search: a tree of alternating paths from a free node, under duals that
//! change as it grows (Edmonds, 1965; the bookkeeping by clock follows Galil,
//! 1986).
//!
//! Even nodes (S) of the tree lose dual at rate 1 and odd ones (T) gain it, so every event has a
//! fixed time: an edge to a node outside becomes tight and the tree grows; an edge between even
//! nodes becomes tight and a blossom is created; z of an odd blossom reaches 0 and it is dissolved.
//! A heap stores the times. The search ends when an edge to another free node is tight, or when y
//! of an even vertex is 0, because a vertex may stay alone only at y = 0. Both are known when a
//! vertex joins the tree, so the earliest such end is a bound, and later events are not stored.
//!
//! Duals in the tree are stored as if their nodes had had their present labels since moment 0:

mod end;

use super::cycle::{turn_downwards, turn_to_base, Link};
use super::events::{Event, Events};
use super::forest::{Forest, NONE};
use super::graph::Graph;

/// The position of a vertex: that of its outermost node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    /// Matched, not in the tree.
    Outside,
    /// Not matched, not in the tree.
    Free,
    /// At an even distance from the root.
    Even,
    /// At an odd distance.
    Odd,
}

/// The kind of end of a search.
#[derive(Clone, Copy, Debug)]
enum End {
    /// With the edge from an even vertex to one in a free node.
    Augment(u32, u32),
    /// The path ends by leaving this even vertex unmatched.
    Alone(u32),
    /// At the limit: this vertex, the base of the root, is as free as before.
    Pause(u32),
}

/// The workspace of searches, and the labels of vertices outside a search.
#[derive(Clone, Debug)]
pub(super) struct Search {
    label: Vec<Label>,
    /// The edge by which an odd node joined: its vertex in the tree, then its own.
    entry: Vec<(u32, u32)>,
    /// For nodes outside: the earliest time and the edge by which they could join.
    best: Vec<(i64, u32, u32)>,
    has_best: Vec<u32>,
    events: Events,
    bound: i64,
    end: End,
    /// Nodes that were labelled; some are inside others by now.
    labelled: Vec<u32>,
    /// Created blossoms, and dissolved ones with their cycles.
    made: Vec<u32>,
    apart: Vec<(u32, Vec<Link>)>,
    /// Marks used to find a common ancestor.
    mark: Vec<u32>,
    climb: u32,
    links: Vec<Link>,
    fresh: Vec<u32>,
}

impl Search {
    pub fn new(forest: &Forest) -> Search {
        let nodes = forest.nodes();
        let outside = |v: u32| match forest.partner(forest.top(v)) {
            NONE => Label::Free,
            _ => Label::Outside,
        };
        Search {
            label: (0..forest.vertices() as u32).map(outside).collect(),
            entry: vec![(NONE, NONE); nodes],
            best: vec![(i64::MAX, NONE, NONE); nodes],
            has_best: Vec::new(),
            events: Events::default(),
            bound: i64::MAX,
            end: End::Alone(NONE),
            labelled: Vec::new(),
            made: Vec::new(),
            apart: Vec::new(),
            mark: vec![0; nodes],
            climb: 0,
            links: Vec::new(),
            fresh: Vec::new(),
        }
    }

    /// Matches the free node `root`, or instead frees a vertex whose y is 0. Returns false if duals
    /// would have to change by more than `limit` and only duals have changed.
    pub fn run(&mut self, root: u32, limit: i64, graph: &Graph, forest: &mut Forest) -> bool {
        self.bound = limit;
        self.end = End::Pause(forest.base[root as usize]);
        self.relabel(root, Label::Even, 0, forest);
        self.scan_node(root, graph, forest);
        while let Some((now, event)) = self.events.pop_before(self.bound) {
            match event {
                Event::Grow(node) => self.grow(node, now, graph, forest),
                Event::Shrink(u, v) => self.shrink(u, v, now, graph, forest),
                Event::Expand(blossom) => self.expand(blossom, now, graph, forest),
            }
        }
        self.finish(forest);
        !matches!(self.end, End::Pause(_))
    }

    /// Visits the neighbours of an even vertex.
    fn scan(&mut self, u: u32, graph: &Graph, forest: &Forest) {
        let (y, sign) = (forest.y[u as usize], forest.sign[u as usize]);
        if y < self.bound {
            (self.bound, self.end) = (y, End::Alone(u));
        }
        for &(v, weight) in graph.of(u) {
            // The slack at moment t is `key` − t if v does not move, and twice as large if v is
            // even too.
            let sum = y + forest.y[v as usize] - weight;
            match self.label[v as usize] {
                Label::Odd => {}
                Label::Outside => self.offer(sum, u, v, forest),
                Label::Free if sum < self.bound => {
                    (self.bound, self.end) = (sum, End::Augment(u, v));
                }
                Label::Free => {}
                Label::Even if sum < 2 * self.bound && forest.sign[v as usize] != sign => {
                    debug_assert!(sum % 2 == 0);
                    self.events.push(sum / 2, Event::Shrink(u, v));
                }
                Label::Even => {}
            }
        }
    }

    fn scan_node(&mut self, node: u32, graph: &Graph, forest: &Forest) {
        let mut vertex = forest.first(node);
        while vertex != NONE {
            self.scan(vertex, graph, forest);
            vertex = forest.after(vertex, node);
        }
    }

    /// Records that the edge from the even `u` to `v` outside is tight at `moment`.
    fn offer(&mut self, moment: i64, u: u32, v: u32, forest: &Forest) {
        let node = forest.top(v);
        let best = &mut self.best[node as usize];
        if moment < best.0 && moment < self.bound {
            if best.0 == i64::MAX {
                self.has_best.push(node);
            }
            *best = (moment, u, v);
            self.events.push(moment, Event::Grow(node));
        }
    }

    /// Makes a node outside odd, and its matched partner even.
    fn grow(&mut self, node: u32, now: i64, graph: &Graph, forest: &mut Forest) {
        let (moment, u, v) = self.best[node as usize];
        let outside = forest.top(v) == node && self.label[v as usize] == Label::Outside;
        if moment != now || !outside {
            return;
        }
        self.entry[node as usize] = (u, v);
        self.relabel(node, Label::Odd, -now, forest);
        self.await_expansion(node, forest);
        let even = forest.top(forest.partner(node));
        self.relabel(even, Label::Even, now, forest);
        self.scan_node(even, graph, forest);
    }

    /// Labels an outermost node, whose duals are then stored relative to this label.
    fn relabel(&mut self, node: u32, label: Label, dy: i64, forest: &mut Forest) {
        forest.shift(node, dy);
        self.set_label(node, label, forest);
        self.labelled.push(node);
    }

    fn set_label(&mut self, node: u32, label: Label, forest: &Forest) {
        let mut vertex = forest.first(node);
        while vertex != NONE {
            self.label[vertex as usize] = label;
            vertex = forest.after(vertex, node);
        }
    }

    fn await_expansion(&mut self, node: u32, forest: &Forest) {
        if forest.is_blossom(node) && forest.z(node) < 2 * self.bound {
            self.events.push(forest.z(node) / 2, Event::Expand(node));
        }
    }

    /// Creates an even blossom from the even nodes of `u` and `v` and their paths to the nearest
    /// common ancestor.
    fn shrink(&mut self, u: u32, v: u32, now: i64, graph: &Graph, forest: &mut Forest) {
        let (top_u, top_v) = (forest.top(u), forest.top(v));
        if top_u == top_v {
            return;
        }
        let ancestor = self.common_ancestor(top_u, top_v, forest);
        let mut links = std::mem::take(&mut self.links);
        links.clear();
        self.path_up(top_u, ancestor, forest, &mut links);
        turn_downwards(&mut links, ancestor, (u, v));
        self.path_up(top_v, ancestor, forest, &mut links);
        self.fresh.clear();
        for link in &links {
            let odd = self.label[forest.first(link.child) as usize] == Label::Odd;
            if odd {
                self.fresh.extend(forest.leaves(link.child));
                forest.shift(link.child, 2 * now);
                self.set_label(link.child, Label::Even, forest);
            }
            if forest.is_blossom(link.child) {
                *forest.z_mut(link.child) += 2 * now;
            }
        }
        let blossom = forest.shrink(&links);
        *forest.z_mut(blossom) = -2 * now;
        self.links = links;
        self.labelled.push(blossom);
        self.made.push(blossom);
        let fresh = std::mem::take(&mut self.fresh);
        for &vertex in &fresh {
            self.scan(vertex, graph, forest);
        }
        self.fresh = fresh;
    }

    /// The even node above an even node, `NONE` above the root.
    fn above(&self, even: u32, forest: &Forest) -> u32 {
        match forest.partner(even) {
            NONE => NONE,
            mate => forest.top(self.entry[forest.top(mate) as usize].0),
        }
    }

    fn common_ancestor(&mut self, a: u32, b: u32, forest: &Forest) -> u32 {
        self.climb += 1;
        let (mut here, mut there) = (a, b);
        loop {
            if here != NONE {
                if self.mark[here as usize] == self.climb {
                    return here;
                }
                self.mark[here as usize] = self.climb;
                here = self.above(here, forest);
            }
            std::mem::swap(&mut here, &mut there);
        }
    }

    /// The nodes from an even one up to its ancestor, which is not included.
    fn path_up(&self, from: u32, ancestor: u32, forest: &Forest, links: &mut Vec<Link>) {
        let mut even = from;
        while even != ancestor {
            let (base, mate) = (forest.base[even as usize], forest.partner(even));
            let odd = forest.top(mate);
            let (above, own) = self.entry[odd as usize];
            links.push(Link {
                child: even,
                from: base,
                to: mate,
            });
            links.push(Link {
                child: odd,
                from: own,
                to: above,
            });
            even = forest.top(above);
        }
    }

    /// Replaces an odd blossom whose z is 0 by its children: those on the even path from its entry
    /// to its base stay in the tree, the others leave it.
    fn expand(&mut self, blossom: u32, now: i64, graph: &Graph, forest: &mut Forest) {
        let first = forest.first(blossom) as usize;
        let odd = forest.is_outermost(blossom) && self.label[first] == Label::Odd;
        if !odd || forest.z(blossom) != 2 * now {
            return;
        }
        let mut enter = self.entry[blossom as usize];
        let at = forest.position(blossom, enter.1);
        let mut links = forest.dissolve(blossom);
        let steps = turn_to_base(&mut links, at);
        for (step, link) in links.iter().enumerate() {
            let child = link.child;
            if forest.is_blossom(child) {
                *forest.z_mut(child) += 2 * now;
            }
            if step > steps {
                forest.shift(child, now);
                self.set_label(child, Label::Outside, forest);
            } else if step % 2 == 1 {
                self.relabel(child, Label::Even, 2 * now, forest);
                enter = (link.from, link.to);
            } else {
                self.entry[child as usize] = enter;
                self.labelled.push(child);
                self.await_expansion(child, forest);
            }
        }
        for (step, link) in links.iter().enumerate() {
            if step > steps {
                self.reconsider(link.child, graph, forest);
            } else if step % 2 == 1 {
                self.scan_node(link.child, graph, forest);
            }
        }
        self.apart.push((blossom, links));
    }

    /// Searches even neighbours for a node that left the tree.
    fn reconsider(&mut self, node: u32, graph: &Graph, forest: &Forest) {
        for v in forest.leaves(node) {
            for &(u, weight) in graph.of(v) {
                if self.label[u as usize] == Label::Even {
                    let moment = forest.y[u as usize] + forest.y[v as usize] - weight;
                    self.offer(moment, u, v, forest);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A blossom of these vertices with this z; every second edge is matched.
    fn blossom(forest: &mut Forest, vertices: &[u32], z: i64) {
        let next = vertices.iter().cycle().skip(1);
        let cycle: Vec<Link> = { vertices.iter().zip(next) }
            .map(|(&from, &to)| Link {
                child: from,
                from,
                to,
            })
            .collect();
        let blossom = forest.shrink(&cycle);
        *forest.z_mut(blossom) = z;
    }

    /// In halves of a weight. The root 0 enters the blossom at 3, whose z is 4: at moment 2 the
    /// blossom is dissolved. 3, 2 and 1 stay in the tree, with 6, and 4 and 5 leave it. At 6 the
    /// edge from 6 to 5 is tight and these return; at 10 the edge from 4 to 8 is tight, if there is
    /// one, and at 14 the edge from 2 to 7.
    #[test]
    fn what_is_left_of_an_odd_blossom_goes_on() {
        let cycle = [(1, 2), (2, 3), (3, 4), (4, 5), (1, 5)].map(|(i, j)| (i, j, 52));
        let others = [(0, 3, 50), (1, 6, 50), (2, 7, 45), (5, 6, 48)];
        let search = |last: &[(u32, u32, i64)]| {
            let mut forest = Forest::new(vec![50; 9]);
            forest.mate = vec![NONE, 6, 3, 2, 5, 4, 1, NONE, NONE];
            blossom(&mut forest, &[1, 2, 3, 4, 5], 4);
            let graph = Graph::new(9, &[&cycle[..], &others, last].concat());
            assert!(Search::new(&forest).run(0, 100, &graph, &mut forest));
            (forest.y, forest.mate)
        };
        let (y, mate) = search(&[(4, 8, 49)]);
        assert_eq!(y, [40, 60, 44, 60, 48, 56, 40, 50, 50]);
        assert_eq!(mate, [3, 2, 1, 0, 8, 6, 5, NONE, 4]);
        let (y, mate) = search(&[]);
        assert_eq!(y, [36, 64, 40, 64, 44, 60, 36, 50, 50]);
        assert_eq!(mate, [3, 6, 7, 0, 5, 4, 1, 2, NONE]);
    }

    /// All edges are tight. 0, 1 and 2 become a blossom at moment 0, when 1 is matched with 3.
    #[test]
    fn a_blossom_without_a_dual_does_not_outlast_its_search() {
        let mut forest = Forest::new(vec![10; 4]);
        forest.mate = vec![NONE, 2, 1, NONE];
        let graph = Graph::new(4, &[(0, 1, 10), (0, 2, 10), (1, 2, 10), (1, 3, 10)]);
        assert!(Search::new(&forest).run(0, 5, &graph, &mut forest));
        assert_eq!(forest.mate, [2, 3, 0, 1]);
        assert_eq!(forest.y, [10; 4]);
        assert_eq!(forest.blossoms().count(), 0);
    }

    /// The first blossom joins the tree and would be dissolved at moment 1; but at moment 0 it
    /// becomes part of an even one, with the second and the root.
    #[test]
    fn what_is_part_of_an_even_blossom_stays_whole() {
        let mut forest = Forest::new(vec![10; 7]);
        forest.mate = vec![NONE, 4, 3, 2, 1, 6, 5];
        blossom(&mut forest, &[1, 2, 3], 2);
        blossom(&mut forest, &[4, 5, 6], 4);
        let within = [
            (1, 2, 11),
            (2, 3, 11),
            (1, 3, 11),
            (4, 5, 12),
            (5, 6, 12),
            (4, 6, 12),
        ];
        let between = [(1, 4, 10), (0, 2, 10), (0, 5, 10)];
        let graph = Graph::new(7, &[&within[..], &between].concat());
        assert!(!Search::new(&forest).run(0, 5, &graph, &mut forest));
        assert_eq!(forest.y, [5; 7]);
        let mut all: Vec<_> = forest.blossoms().collect();
        all.iter_mut().for_each(|(_, members)| members.sort());
        let expected = [
            (2, vec![1, 2, 3]),
            (4, vec![4, 5, 6]),
            (10, (0..7).collect()),
        ];
        assert_eq!(all, expected);
    }
}
