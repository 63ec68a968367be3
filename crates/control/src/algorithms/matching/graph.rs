//! The few edges that a sparse solve uses.

/// Undirected edges by vertex, with doubled weights so that duals stay whole.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    starts: Vec<u32>,
    edges: Vec<(u32, i64)>,
}

impl Graph {
    /// A graph of `n` vertices with the edges (i, j, w), each named once.
    pub fn new(n: usize, edges: &[(u32, u32, i64)]) -> Graph {
        let mut starts = vec![0u32; n + 2];
        for &(i, j, _) in edges {
            starts[i as usize + 2] += 1;
            starts[j as usize + 2] += 1;
        }
        for vertex in 2..n + 2 {
            starts[vertex] += starts[vertex - 1];
        }
        let mut by_vertex = vec![(0, 0); 2 * edges.len()];
        for &(i, j, weight) in edges {
            for (from, to) in [(i, j), (j, i)] {
                let slot = &mut starts[from as usize + 1];
                by_vertex[*slot as usize] = (to, 2 * weight);
                *slot += 1;
            }
        }
        starts.pop();
        Graph {
            starts,
            edges: by_vertex,
        }
    }

    /// The neighbours of a vertex and the doubled weights of the edges to them.
    pub fn of(&self, vertex: u32) -> &[(u32, i64)] {
        let at = vertex as usize;
        &self.edges[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}
