//! Maximum-cardinality matching of rows with columns (Hopcroft & Karp, 1973).
//!
//! Rows are bitsets, so a breadth-first search processes 64 columns at once; at N = 64 a row is one
//! word. A search starts from any valid [`Pairing`], so that after a lower threshold or removed
//! edges the remaining pairs are augmented.
//!
//! Weights are not used (see [`crate::algorithms::assignment`]), and there are no sparse adjacency
//! lists: at N = 4,096 the bitsets take 2 MB.

/// In [`Pairing`]: not matched.
pub(crate) const FREE: u32 = u32::MAX;

/// The columns with which each row may be matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitRows {
    rows: usize,
    columns: usize,
    words: usize,
    bits: Vec<u64>,
}

impl BitRows {
    /// A `rows` × `columns` graph without edges.
    pub fn new(rows: usize, columns: usize) -> BitRows {
        let words = columns.div_ceil(64);
        BitRows {
            rows,
            columns,
            words,
            bits: vec![0; rows * words],
        }
    }

    /// An edge wherever `edge(row, column)`.
    pub fn from_fn(
        rows: usize,
        columns: usize,
        mut edge: impl FnMut(usize, usize) -> bool,
    ) -> BitRows {
        let mut found = BitRows::new(rows, columns);
        found.fill(&mut edge);
        found
    }

    /// Replaces all edges by those for which `edge(row, column)` is true.
    pub fn fill(&mut self, mut edge: impl FnMut(usize, usize) -> bool) {
        for row in 0..self.rows {
            for word in 0..self.words {
                let from = word * 64;
                let to = self.columns.min(from + 64);
                let bits = (from..to).fold(0, |bits, column| {
                    bits | u64::from(edge(row, column)) << (column - from)
                });
                self.bits[row * self.words + word] = bits;
            }
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Adds an edge.
    pub fn set(&mut self, row: usize, column: usize) {
        debug_assert!(column < self.columns);
        self.bits[row * self.words + column / 64] |= 1 << (column % 64);
    }

    /// Removes an edge.
    pub fn clear(&mut self, row: usize, column: usize) {
        self.bits[row * self.words + column / 64] &= !(1 << (column % 64));
    }

    /// Whether there is an edge.
    pub fn contains(&self, row: usize, column: usize) -> bool {
        self.row(row)[column / 64] >> (column % 64) & 1 == 1
    }

    /// The columns of a row: bit `c % 64` of word `c / 64`.
    pub fn row(&self, row: usize) -> &[u64] {
        &self.bits[row * self.words..][..self.words]
    }
}

/// A matching of rows with columns, possibly partial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairing {
    column_of: Vec<u32>,
    row_of: Vec<u32>,
    size: usize,
}

impl Pairing {
    /// A matching without pairs.
    pub fn new(rows: usize, columns: usize) -> Pairing {
        Pairing {
            column_of: vec![FREE; rows],
            row_of: vec![FREE; columns],
            size: 0,
        }
    }

    /// The column of a row, if it is matched.
    pub fn column(&self, row: usize) -> Option<usize> {
        let column = self.column_of[row];
        (column != FREE).then_some(column as usize)
    }

    /// The column of every row, [`FREE`] if it has none.
    pub(crate) fn column_of(&self) -> &[u32] {
        &self.column_of
    }

    /// The row of every column, [`FREE`] if it has none.
    pub(crate) fn row_of(&self) -> &[u32] {
        &self.row_of
    }

    /// The number of matched rows.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether every row is matched.
    pub fn is_perfect(&self) -> bool {
        self.size == self.column_of.len()
    }

    /// Matches a free row and a free column.
    pub fn pair(&mut self, row: usize, column: usize) {
        debug_assert!(self.column_of[row] == FREE && self.row_of[column] == FREE);
        self.column_of[row] = column as u32;
        self.row_of[column] = row as u32;
        self.size += 1;
    }

    /// Frees a row and its column; no effect on a free row.
    pub fn release(&mut self, row: usize) {
        let column = std::mem::replace(&mut self.column_of[row], FREE);
        if column != FREE {
            self.row_of[column as usize] = FREE;
            self.size -= 1;
        }
    }

    /// Frees all rows and columns.
    pub fn clear(&mut self) {
        self.column_of.fill(FREE);
        self.row_of.fill(FREE);
        self.size = 0;
    }

    /// Assigns the column to `row`; the row's last column belongs to another row or is free.
    fn hand(&mut self, row: u32, column: u32) {
        self.column_of[row as usize] = column;
        self.row_of[column as usize] = row;
    }
}

/// The workspace of the search, kept between calls.
#[derive(Clone, Debug, Default)]
pub struct HopcroftKarp {
    /// Columns by their distance from the free rows, a bitset each.
    layers: Vec<u64>,
    depth: usize,
    unseen: Vec<u64>,
    free: Vec<u64>,
    frontier: Vec<u32>,
    /// The path under trial: `rows[i]` takes `columns[i]`.
    rows: Vec<u32>,
    columns: Vec<u32>,
}

impl HopcroftKarp {
    /// An empty workspace; it grows as needed.
    pub fn new() -> HopcroftKarp {
        HopcroftKarp::default()
    }

    /// Augments `pairing`, whose pairs must all be edges, to the maximum that `edges` allow, and
    /// returns its size. Matched vertices stay matched, possibly with another partner. At most
    /// about √N rounds of N²/64 words each.
    ///
    /// # Panics
    /// If `pairing` was made for other numbers of rows or columns.
    pub fn augment(&mut self, edges: &BitRows, pairing: &mut Pairing) -> usize {
        assert_eq!(
            (pairing.column_of.len(), pairing.row_of.len()),
            (edges.rows, edges.columns),
            "a pairing of the size of its edges"
        );
        while pairing.size < edges.rows.min(edges.columns) && self.layer(edges, pairing) {
            self.augment_disjoint(edges, pairing);
        }
        pairing.size
    }

    /// Breadth-first layers of columns from the free rows, up to the first layer with a free
    /// column; false if there is none, which means that the matching is maximum.
    fn layer(&mut self, edges: &BitRows, pairing: &Pairing) -> bool {
        let words = edges.words;
        self.depth = 0;
        self.unseen.clear();
        self.unseen.resize(words, u64::MAX);
        self.mark_free(words, pairing);
        self.frontier.clear();
        let free_rows = (0..edges.rows as u32).filter(|&r| pairing.column_of[r as usize] == FREE);
        self.frontier.extend(free_rows);
        while !self.frontier.is_empty() {
            let from = self.depth * words;
            self.layers.resize(self.layers.len().max(from + words), 0);
            let layer = &mut self.layers[from..from + words];
            layer.fill(0);
            for &row in &self.frontier {
                let bits = edges.row(row as usize);
                for ((new, unseen), bits) in layer.iter_mut().zip(&self.unseen).zip(bits) {
                    *new |= bits & unseen;
                }
            }
            for (unseen, new) in self.unseen.iter_mut().zip(layer.iter()) {
                *unseen &= !new;
            }
            self.depth += 1;
            if layer
                .iter()
                .zip(&self.free)
                .any(|(new, free)| new & free != 0)
            {
                // Deeper paths would be longer than the shortest.
                layer
                    .iter_mut()
                    .zip(&self.free)
                    .for_each(|(new, free)| *new &= free);
                return true;
            }
            self.frontier.clear();
            for (word, &bits) in layer.iter().enumerate() {
                let columns = ones(bits).map(|bit| word * 64 + bit);
                self.frontier
                    .extend(columns.map(|column| pairing.row_of[column]));
            }
        }
        false
    }

    fn mark_free(&mut self, words: usize, pairing: &Pairing) {
        self.free.clear();
        self.free.resize(words, 0);
        for (column, &row) in pairing.row_of.iter().enumerate() {
            self.free[column / 64] |= u64::from(row == FREE) << (column % 64);
        }
    }

    /// Augments along a maximal set of shortest augmenting paths without common vertices.
    fn augment_disjoint(&mut self, edges: &BitRows, pairing: &mut Pairing) {
        for row in 0..edges.rows as u32 {
            if pairing.column_of[row as usize] == FREE && self.walk(row, edges, pairing) {
                for (&row, &column) in self.rows.iter().zip(&self.columns) {
                    pairing.hand(row, column);
                }
                pairing.size += 1;
            }
        }
    }

    /// Depth-first search through the layers from a free row; a visited column is removed from its
    /// layer.
    fn walk(&mut self, from: u32, edges: &BitRows, pairing: &Pairing) -> bool {
        let words = edges.words;
        self.rows.clear();
        self.columns.clear();
        self.rows.push(from);
        while let Some(&row) = self.rows.last() {
            let at = self.columns.len();
            let layer = &mut self.layers[at * words..][..words];
            match first_common(layer, edges.row(row as usize)) {
                Some(column) => {
                    layer[column / 64] &= !(1 << (column % 64));
                    self.columns.push(column as u32);
                    if at + 1 == self.depth {
                        return true;
                    }
                    self.rows.push(pairing.row_of[column]);
                }
                None => {
                    self.rows.pop();
                    self.columns.pop();
                }
            }
        }
        false
    }
}

/// A maximum-cardinality matching.
pub fn maximum(edges: &BitRows) -> Pairing {
    let mut pairing = Pairing::new(edges.rows, edges.columns);
    HopcroftKarp::new().augment(edges, &mut pairing);
    pairing
}

/// The lowest index that is set in both.
fn first_common(a: &[u64], b: &[u64]) -> Option<usize> {
    let common = a.iter().zip(b).map(|(a, b)| a & b);
    let (word, bits) = common.enumerate().find(|&(_, bits)| bits != 0)?;
    Some(word * 64 + bits.trailing_zeros() as usize)
}

/// The positions of the ones of a word, ascending.
fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let bit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            bit
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_beyond_the_first_word_go_alone() {
        let mut edges = BitRows::from_fn(3, 130, |row, _| row > 0);
        assert_eq!((edges.rows(), edges.columns()), (3, 130));
        edges.clear(2, 129);
        edges.set(0, 64);
        let odd = |row: usize, column: usize| edges.contains(row, column) != (row > 0);
        let all = (0..3).flat_map(|row| (0..130).map(move |column| (row, column)));
        let found: Vec<_> = all.filter(|&(r, c)| odd(r, c)).collect();
        assert_eq!(found, [(0, 64), (2, 129)]);
    }

    #[test]
    fn who_is_cleared_is_free() {
        let mut pairing = Pairing::new(2, 3);
        pairing.pair(0, 2);
        assert_eq!((pairing.column(0), pairing.column(1)), (Some(2), None));
        pairing.clear();
        assert_eq!(pairing, Pairing::new(2, 3));
    }

    /// The number of rows and columns that together cover every edge: by König's theorem a matching
    /// with that many pairs is maximum.
    fn cover_size(edges: &BitRows, pairing: &Pairing) -> usize {
        let mut row_reached = vec![false; edges.rows()];
        let mut column_reached = vec![false; edges.columns()];
        let mut stack: Vec<usize> = Vec::new();
        stack.extend((0..edges.rows()).filter(|&r| pairing.column_of()[r] == FREE));
        while let Some(row) = stack.pop() {
            row_reached[row] = true;
            for (column, reached) in column_reached.iter_mut().enumerate() {
                if edges.contains(row, column) && !*reached {
                    *reached = true;
                    stack.push(pairing.row_of()[column] as usize);
                }
            }
        }
        for (row, reached) in row_reached.iter().enumerate() {
            for (column, covered) in column_reached.iter().enumerate() {
                assert!(!reached || *covered || !edges.contains(row, column));
            }
        }
        row_reached.iter().filter(|r| !**r).count() + column_reached.iter().filter(|c| **c).count()
    }

    fn check(edges: &BitRows, pairing: &Pairing) {
        let mut size = 0;
        for (row, &column) in pairing.column_of().iter().enumerate() {
            if column != FREE {
                assert!(edges.contains(row, column as usize));
                assert_eq!(pairing.row_of()[column as usize], row as u32);
                size += 1;
            }
        }
        assert_eq!(
            pairing.row_of().iter().filter(|r| **r != FREE).count(),
            size
        );
        assert_eq!(pairing.size(), size);
    }

    fn bipartite() -> impl Strategy<Value = BitRows> {
        (1usize..150, 1usize..150, 0.0f64..1.0).prop_flat_map(|(rows, columns, density)| {
            // With about one edge per row the matching is hardest.
            let density = density.powi(4);
            proptest::collection::vec(0.0f64..1.0, rows * columns).prop_map(move |draws| {
                BitRows::from_fn(rows, columns, |r, c| draws[r * columns + c] < density)
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn a_cover_of_the_same_size_proves_the_maximum(edges in bipartite()) {
            let pairing = maximum(&edges);
            check(&edges, &pairing);
            prop_assert_eq!(cover_size(&edges, &pairing), pairing.size());
        }

        #[test]
        fn a_partial_matching_is_augmented(edges in bipartite(), keep in 0.0f64..1.0) {
            let whole = maximum(&edges);
            let mut part = whole.clone();
            for row in 0..edges.rows() {
                if (row as f64 * 0.618).fract() > keep {
                    part.release(row);
                }
            }
            let before = part.clone();
            let mut search = HopcroftKarp::new();
            search.augment(&edges, &mut part);
            check(&edges, &part);
            prop_assert_eq!(part.size(), whole.size());
            for row in 0..edges.rows() {
                if before.column_of()[row] != FREE {
                    prop_assert!(part.column_of()[row] != FREE);
                }
            }
        }
    }

    #[test]
    fn a_long_alternating_path_is_found() {
        // Row i has columns i and i + 1; paired with i + 1 each, the last row is
        // free and the only free column is 0: all 501 rows must shift.
        let n = 501;
        let edges = BitRows::from_fn(n, n, |r, c| c == r || c == r + 1);
        let mut pairing = Pairing::new(n, n);
        (0..n - 1).for_each(|row| pairing.pair(row, row + 1));
        assert_eq!(HopcroftKarp::new().augment(&edges, &mut pairing), n);
        assert!(pairing.is_perfect());
        assert!(pairing
            .column_of()
            .iter()
            .enumerate()
            .all(|(r, &c)| r as u32 == c));
    }

    #[test]
    fn edges_come_and_go() {
        let mut edges = BitRows::new(2, 70);
        edges.set(0, 69);
        edges.set(1, 69);
        assert_eq!(maximum(&edges).size(), 1);
        edges.set(1, 3);
        assert_eq!(maximum(&edges).column_of(), [69, 3]);
        edges.clear(0, 69);
        assert_eq!(maximum(&edges).column_of(), [FREE, 3]);
        assert_eq!(maximum(&BitRows::new(0, 0)).size(), 0);
        assert_eq!(maximum(&BitRows::new(3, 0)).size(), 0);
    }
}
