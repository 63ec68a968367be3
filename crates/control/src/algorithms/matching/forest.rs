//! The primal and dual state of a matching: the matched pairs, the duals y of vertices and z of
//! blossoms, and the nesting of blossoms.
//!
//! A *node* is a vertex (its index below `n`) or a blossom (from `n`): an odd cycle of nodes whose
//! edges are tight, every second one matched, so that all but one vertex, the *base*, are matched
//! inside. [`super::search`] searches over nodes; this module creates, rotates and dissolves them.

use super::cycle::Link;

/// The value for no node or no vertex.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(super) struct Forest {
    n: usize,
    /// The matched partner of each vertex.
    pub mate: Vec<u32>,
    /// The dual of each vertex, in units of half a weight.
    pub y: Vec<i64>,
    /// The dual of each blossom (by node − n), in units of half a weight; even.
    z: Vec<i64>,
    /// One vertex that represents an outermost node: two vertices are in the same node if they have
    /// the same sign.
    pub sign: Vec<u32>,
    /// The outermost node of each sign.
    bearer: Vec<u32>,
    /// The sign of each node while it is outermost: that of its largest child, so that few vertices
    /// change their sign when blossoms are created or dissolved.
    sign_of: Vec<u32>,
    size: Vec<u32>,
    /// The only vertex of each node that may be matched outside the node.
    pub base: Vec<u32>,
    parent: Vec<u32>,
    /// Children of each blossom (by node − n). The first holds the base; after it, the second and
    /// third are matched with each other, and so on.
    cycle: Vec<Vec<Link>>,
    /// The vertices of a node: from `first` along `next` to `last`.
    first: Vec<u32>,
    last: Vec<u32>,
    next: Vec<u32>,
    /// Blossoms not in use.
    spare: Vec<u32>,
    /// Blossoms and vertices that `rebase` still has to visit.
    turning: Vec<(u32, u32)>,
}

impl Forest {
    /// Vertices with duals `y`, none matched.
    pub fn new(y: Vec<i64>) -> Forest {
        let n = y.len();
        // With three children or more, n/2 blossoms nest at a time. A search also keeps the
        // numbers of dissolved blossoms.
        let nodes = 2 * n;
        let vertices = || (0..n as u32).chain(std::iter::repeat(NONE)).take(nodes);
        Forest {
            n,
            mate: vec![NONE; n],
            y,
            z: vec![0; nodes - n],
            sign: (0..n as u32).collect(),
            bearer: (0..n as u32).collect(),
            sign_of: vertices().collect(),
            size: vec![1; nodes],
            base: vertices().collect(),
            parent: vec![NONE; nodes],
            cycle: vec![Vec::new(); nodes - n],
            first: vertices().collect(),
            last: vertices().collect(),
            next: vec![NONE; n],
            spare: (n as u32..nodes as u32).rev().collect(),
            turning: Vec::new(),
        }
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.n
    }

    /// The largest number of nodes.
    pub fn nodes(&self) -> usize {
        self.base.len()
    }

    pub fn is_blossom(&self, node: u32) -> bool {
        node as usize >= self.n
    }

    /// The outermost node of a vertex.
    pub fn top(&self, vertex: u32) -> u32 {
        self.bearer[self.sign[vertex as usize] as usize]
    }

    /// Whether a node is outermost; a dissolved blossom is not.
    pub fn is_outermost(&self, node: u32) -> bool {
        self.top(self.first(node)) == node
    }

    /// z of a blossom.
    pub fn z(&self, blossom: u32) -> i64 {
        self.z[blossom as usize - self.n]
    }

    pub fn z_mut(&mut self, blossom: u32) -> &mut i64 {
        &mut self.z[blossom as usize - self.n]
    }

    /// The vertex outside a node that is matched with its base.
    pub fn partner(&self, node: u32) -> u32 {
        self.mate[self.base[node as usize] as usize]
    }

    /// The first vertex of a node; [`Forest::after`] returns the others.
    pub fn first(&self, node: u32) -> u32 {
        self.first[node as usize]
    }

    /// The vertex after `vertex` among those of `node`, `NONE` after the last.
    pub fn after(&self, vertex: u32, node: u32) -> u32 {
        if vertex == self.last[node as usize] {
            NONE
        } else {
            self.next[vertex as usize]
        }
    }

    /// The vertices of a node.
    pub fn leaves(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let first = Some(self.first(node));
        std::iter::successors(first, move |&v| {
            Some(self.after(v, node)).filter(|&v| v != NONE)
        })
    }

    /// Changes y of all vertices of a node, and z of a blossom so that the slack of its inner edges
    /// stays the same.
    pub fn shift(&mut self, node: u32, dy: i64) {
        let mut vertex = self.first(node);
        while vertex != NONE {
            self.y[vertex as usize] += dy;
            vertex = self.after(vertex, node);
        }
        if self.is_blossom(node) {
            *self.z_mut(node) -= 2 * dy;
        }
    }

    /// Creates an outermost blossom with z = 0 from outermost nodes; the first holds the base.
    pub fn shrink(&mut self, links: &[Link]) -> u32 {
        let blossom = self.spare.pop().expect("fewer blossoms than vertices");
        let at = blossom as usize;
        self.base[at] = self.base[links[0].child as usize];
        self.parent[at] = NONE;
        self.z[at - self.n] = 0;
        self.cycle[at - self.n].clear();
        self.cycle[at - self.n].extend_from_slice(links);
        self.first[at] = self.first(links[0].child);
        let largest = links
            .iter()
            .map(|link| link.child)
            .max_by_key(|&c| self.size[c as usize]);
        let sign = self.sign_of[largest.expect("children") as usize];
        let (mut last, mut size) = (NONE, 0);
        for link in links {
            let child = link.child as usize;
            self.parent[child] = blossom;
            if last != NONE {
                self.next[last as usize] = self.first[child];
            }
            last = self.last[child];
            size += self.size[child];
            self.set_sign(link.child, sign);
        }
        self.last[at] = last;
        self.size[at] = size;
        self.sign_of[at] = sign;
        self.bearer[sign as usize] = blossom;
        blossom
    }

    /// Dissolves an outermost blossom and returns its cycle. Its number must not be used again
    /// before [`Forest::recycle`].
    pub fn dissolve(&mut self, blossom: u32) -> Vec<Link> {
        let links = std::mem::take(&mut self.cycle[blossom as usize - self.n]);
        for link in &links {
            self.parent[link.child as usize] = NONE;
            let sign = self.sign_of[link.child as usize];
            self.set_sign(link.child, sign);
            self.bearer[sign as usize] = link.child;
        }
        links
    }

    /// Makes the number of a dissolved blossom, and the memory of its cycle,
    /// available again.
    pub fn recycle(&mut self, blossom: u32, mut links: Vec<Link>) {
        links.clear();
        self.cycle[blossom as usize - self.n] = links;
        self.spare.push(blossom);
    }

    fn set_sign(&mut self, node: u32, sign: u32) {
        let mut vertex = self.first(node);
        while vertex != NONE && self.sign[vertex as usize] != sign {
            self.sign[vertex as usize] = sign;
            vertex = self.after(vertex, node);
        }
    }

    /// The child of `blossom` that holds `vertex`, as an index into its cycle.
    pub fn position(&self, blossom: u32, vertex: u32) -> usize {
        let mut child = vertex;
        while self.parent[child as usize] != blossom {
            child = self.parent[child as usize];
        }
        let links = &self.cycle[blossom as usize - self.n];
        let found = links.iter().position(|link| link.child == child);
        found.expect("a blossom has all its children in its cycle")
    }

    /// Makes `vertex` the base of the outermost `node` that holds it, by swapping matched and
    /// unmatched edges inside. The caller sets the outside partner of `vertex`.
    pub fn rebase(&mut self, node: u32, vertex: u32) {
        self.turning.push((node, vertex));
        while let Some((node, vertex)) = self.turning.pop() {
            if self.base[node as usize] != vertex {
                self.turn(node, vertex);
            }
        }
    }

    /// Rotates the cycle of a blossom so that the child with `vertex` comes first; children that
    /// are now matched by another vertex are added to `turning` for `rebase`.
    fn turn(&mut self, blossom: u32, vertex: u32) {
        let at = self.position(blossom, vertex);
        let mut links = std::mem::take(&mut self.cycle[blossom as usize - self.n]);
        self.turning.push((links[at].child, vertex));
        // The path to the old base that begins with a matched edge.
        let flipped = if at.is_multiple_of(2) {
            0..at
        } else {
            at + 1..links.len()
        };
        for pair in flipped.step_by(2) {
            let Link { child, from, to } = links[pair];
            self.mate[from as usize] = to;
            self.mate[to as usize] = from;
            self.turning.push((child, from));
            self.turning
                .push((links[(pair + 1) % links.len()].child, to));
        }
        links.rotate_left(at);
        self.base[blossom as usize] = vertex;
        self.cycle[blossom as usize - self.n] = links;
    }

    /// Raises y of `vertex` by `dy` > 0 relative to that of `other`, and frees vertices that are no
    /// longer matched by a tight edge. The whole outermost blossom is raised while its z is above 0
    /// and `other` is not in it.
    pub fn lift(&mut self, vertex: u32, other: u32, mut dy: i64) {
        loop {
            let node = self.top(vertex);
            self.release(node);
            let apart = self.top(other) != node;
            if apart && (!self.is_blossom(node) || self.z(node) >= 2 * dy) {
                self.shift(node, dy);
                return;
            }
            let part = self.z(node) / 2;
            self.shift(node, part);
            if apart {
                dy -= part;
            }
            let links = self.dissolve(node);
            self.recycle(node, links);
        }
    }

    /// Frees an outermost node and its partner.
    fn release(&mut self, node: u32) {
        let partner = self.partner(node);
        if partner != NONE {
            self.mate[partner as usize] = NONE;
            self.mate[self.base[node as usize] as usize] = NONE;
        }
    }

    /// The blossoms that contain a node, the innermost first.
    pub fn holders(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let holder = |&node: &u32| Some(self.parent[node as usize]).filter(|&b| b != NONE);
        std::iter::successors(holder(&node), holder)
    }

    /// The sum of z over the blossoms that contain both vertices.
    pub fn shared_z(&self, a: u32, b: u32) -> i64 {
        if self.sign[a as usize] != self.sign[b as usize] {
            return 0;
        }
        // The blossoms that contain b, the outermost first, as long as they contain a.
        let (with_a, with_b): (Vec<u32>, Vec<u32>) =
            (self.holders(a).collect(), self.holders(b).collect());
        let pairs = with_a.iter().rev().zip(with_b.iter().rev());
        pairs
            .take_while(|(x, y)| x == y)
            .map(|(&x, _)| self.z(x))
            .sum()
    }

    /// The first and the last vertex of a node.
    pub fn ends(&self, node: u32) -> (u32, u32) {
        (self.first[node as usize], self.last[node as usize])
    }

    /// All blossoms: z and members.
    pub fn blossoms(&self) -> impl Iterator<Item = (i64, Vec<u32>)> + '_ {
        let in_use = (self.n as u32..self.nodes() as u32)
            .filter(|&node| !self.cycle[node as usize - self.n].is_empty());
        in_use.map(|node| (self.z(node), self.leaves(node).collect()))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The cycle of children, each by its first vertex.
    fn cycle(children: [u32; 3], firsts: [u32; 3]) -> [Link; 3] {
        [0, 1, 2].map(|k| Link {
            child: children[k],
            from: firsts[k],
            to: firsts[(k + 1) % 3],
        })
    }

    /// 0, 1 and 2 are a blossom with z = 2, which with 3 and 4 is one with z = 4; 5 is its
    /// partner. All have y = 1.
    pub fn nested() -> Forest {
        let mut forest = Forest::new(vec![1; 6]);
        forest.mate = vec![5, 2, 1, 4, 3, 0];
        let inner = forest.shrink(&cycle([0, 1, 2], [0, 1, 2]));
        *forest.z_mut(inner) = 2;
        let outer = forest.shrink(&cycle([inner, 3, 4], [0, 3, 4]));
        *forest.z_mut(outer) = 4;
        forest
    }

    #[test]
    fn two_vertices_share_what_holds_both() {
        let forest = nested();
        let shared = [(0, 1), (2, 0), (1, 3), (3, 4), (0, 5)].map(|(a, b)| forest.shared_z(a, b));
        assert_eq!(shared, [6, 6, 4, 4, 0]);
    }

    #[test]
    fn most_vertices_keep_their_sign() {
        let mut forest = Forest::new(vec![0; 5]);
        let inner = forest.shrink(&cycle([0, 1, 2], [0, 1, 2]));
        let sign = forest.sign[0];
        forest.shrink(&cycle([inner, 3, 4], [0, 3, 4]));
        assert_eq!(forest.sign, [sign; 5]);
    }

    /// Against 5: all five rise by 2, which is half of z; the inner three by 1 more, and 0 by the
    /// other 2.
    #[test]
    fn blossoms_rise_with_a_vertex_as_long_as_they_last() {
        let mut forest = nested();
        forest.lift(0, 5, 5);
        assert_eq!(forest.y, [6, 4, 4, 3, 3, 1]);
        assert_eq!(forest.mate, [NONE, 2, 1, 4, 3, NONE]);
        let mut forest = nested();
        forest.lift(3, 5, 2);
        assert_eq!(forest.y, [3, 3, 3, 3, 3, 1]);
        assert_eq!(forest.top(3), forest.top(0));
    }

    /// The blossom that contains both does not rise before 0 rises by 1 against 1.
    #[test]
    fn a_vertex_rises_against_another_of_its_blossoms_once_they_are_apart() {
        let mut forest = nested();
        forest.lift(0, 1, 1);
        assert_eq!(forest.y, [5, 4, 4, 3, 3, 1]);
    }
}
