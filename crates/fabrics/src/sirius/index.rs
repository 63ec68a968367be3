//! Indices of nodes. Each kind has its own type, because functions use several kinds and the
//! compiler would accept one small number in place of another.

/// A node's position in the order of [`schedule`](super::schedule). The kernel identifies nodes by
/// label; the cluster numbers them as racks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Label(pub u16);

/// A node's position in its shard: its label minus the first label of the shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Row(pub usize);

/// A peer's position in the order in which a node meets the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Turn(pub u16);

impl Label {
    /// Creates a label from a number that a label can hold.
    #[inline(always)]
    pub fn new(number: usize) -> Label {
        Label(number as u16)
    }

    /// The index of the node in arrays with one entry per node.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// All labels of `nodes` nodes.
    pub fn all(nodes: usize) -> impl Iterator<Item = Label> + Clone {
        (0..nodes as u16).map(Label)
    }
}

impl Row {
    /// The row of a node whose shard begins with label `lo`.
    #[inline(always)]
    pub fn of(label: Label, lo: usize) -> Row {
        Row(label.index() - lo)
    }

    /// The label of the node if its shard begins with label `lo`.
    #[inline(always)]
    pub fn label(self, lo: usize) -> Label {
        Label::new(lo + self.0)
    }
}

impl Turn {
    /// The index of the turn in arrays with one entry per turn.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// All turns of `nodes` nodes.
    pub fn all(nodes: usize) -> impl Iterator<Item = Turn> {
        (0..nodes as u16).map(Turn)
    }
}
