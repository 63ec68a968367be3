//! Shortest augmenting paths from all waiting lines at once.
//!
//! A tree grows from every waiting line of one side along tight pairs. As time passes, potentials
//! of the forest's own side fall and those of the other side rise, so that peers outside become
//! tight and join with the line that they are assigned to. A path ends at a free peer, or at a line
//! of the tree whose potential has fallen to 0, which needs no peer any more. Every line on the
//! path then shifts by one peer, and the tree leaves the forest. The other trees stay unchanged, so
//! nothing is searched twice. The bound falls by one for each tree and unit of time, so a search
//! that may stop early stops soon.
//!
//! A line visits its pairs in descending order, not before they might be tight. O(log N) for each
//! visited pair, O(F) for a tree that leaves a forest of F lines.

use super::sides::{View, NONE};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A line of the forest, from the time at which it joins until its tree leaves.
#[derive(Clone, Copy, Debug)]
struct Member {
    line: u32,
    /// The line from which its tree grows; `NONE` when the tree has left.
    root: u32,
    /// The time at which its potential is 0.
    key: i64,
    /// The number of its pairs that it has visited.
    seen: usize,
}

/// A pair that may be tight at that time: `peer`, or the member's next one if it is `NONE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: i64,
    peer: u32,
    member: u32,
    /// `time` less the potential of the peer, which may have risen.
    due: i64,
}

/// The forest; kept between calls for its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Forest {
    members: Vec<Member>,
    /// Lines of trees that have not left the forest.
    standing: Vec<u32>,
    /// For peers in the forest: the root of their tree, the line with which they joined, and the
    /// time.
    root: Vec<u32>,
    with: Vec<u32>,
    joined: Vec<i64>,
    /// For every peer the root of the tree that saw it last, and the earliest due value; later
    /// visits of that tree are useless.
    nearest: Vec<(u32, i64)>,
    /// Members of other trees that met a peer in the forest, and their due values; they meet the
    /// peer again when it leaves.
    later: Vec<Vec<(u32, i64)>>,
    events: BinaryHeap<Reverse<Event>>,
    now: i64,
    trees: i64,
}

impl Forest {
    /// Grows until no line waits (`true`), or stops when no matching can carry more than `enough`.
    pub fn grow(&mut self, view: &mut View, enough: i64) -> bool {
        self.plant(view);
        while self.trees > 0 {
            let event = self.events.pop().expect("every member looks on").0;
            if self.members[event.member as usize].root == NONE {
                continue;
            }
            let spare = (*view.most - i128::from(enough)).max(0);
            let trees = i128::from(self.trees);
            let wait = (spare + trees - 1) / trees;
            if i128::from(event.time - self.now) >= wait {
                self.pass(self.now + wait as i64, view);
                self.fell(None, view);
                return false;
            }
            self.pass(event.time, view);
            match event.peer {
                NONE => self.look(event.member, view),
                _ => self.meet(event, view),
            }
        }
        true
    }

    /// Makes every waiting line a tree.
    fn plant(&mut self, view: &mut View) {
        let n = view.own.peer.len();
        self.members.clear();
        self.standing.clear();
        self.root.clear();
        self.root.resize(n, NONE);
        self.with.resize(n, NONE);
        self.joined.resize(n, 0);
        self.nearest.clear();
        self.nearest.resize(n, (NONE, 0));
        self.later.resize(n, Vec::new());
        self.later.iter_mut().for_each(Vec::clear);
        self.events.clear();
        (self.now, self.trees) = (0, 0);
        let waiting: Vec<u32> = view.own.waiting().collect();
        for line in waiting {
            self.trees += 1;
            self.join(line, line, view);
        }
    }

    fn pass(&mut self, to: i64, view: &mut View) {
        *view.most -= i128::from(self.trees) * i128::from(to - self.now);
        self.now = to;
    }

    fn join(&mut self, line: u32, root: u32, view: &mut View) {
        let member = self.members.len() as u32;
        self.standing.push(member);
        self.members.push(Member {
            line,
            root,
            key: view.own.potential[line as usize] + self.now,
            seen: 0,
        });
        self.look(member, view);
    }

    /// A member visits pairs that may be tight now, unless its potential has fallen to 0.
    fn look(&mut self, member: u32, view: &mut View) {
        let Member {
            line,
            root,
            key,
            mut seen,
        } = self.members[member as usize];
        if key == self.now {
            return self.release(line, root, view);
        }
        let pairs = view.lines.line(line as usize);
        let due_at = |at: usize| pairs.get(at).map(|pair| key - pair.bytes.min(view.cap));
        while let Some(due) = due_at(seen).filter(|&due| due <= self.now) {
            let peer = pairs[seen].of;
            seen += 1;
            let nearest = &mut self.nearest[peer as usize];
            if nearest.0 == root && nearest.1 <= due {
                continue;
            }
            *nearest = (root, due);
            let tight = self.visit_pair(peer, member, due, view);
            if tight {
                break;
            }
        }
        self.members[member as usize].seen = seen;
        let due = due_at(seen).unwrap_or(key);
        self.events.push(Reverse(Event {
            time: due.max(self.now),
            peer: NONE,
            member,
            due,
        }));
    }

    /// Visits the pair of a member and a peer. Returns whether it is tight and extends the tree.
    fn visit_pair(&mut self, peer: u32, member: u32, due: i64, view: &View) -> bool {
        match self.root[peer as usize] {
            NONE => {
                let time = due + view.other.potential[peer as usize];
                self.events.push(Reverse(Event {
                    time,
                    peer,
                    member,
                    due,
                }));
                time == self.now
            }
            root => {
                if root != self.members[member as usize].root {
                    self.later[peer as usize].push((member, due));
                }
                false
            }
        }
    }

    /// A member meets a peer that it has seen: the path ends if the peer is free; otherwise the
    /// peer joins with the line that it is assigned to.
    fn meet(&mut self, event: Event, view: &mut View) {
        let at = event.peer as usize;
        let outside = self.root[at] == NONE;
        if !outside || event.due + view.other.potential[at] > self.now {
            self.visit_pair(event.peer, event.member, event.due, view);
            return;
        }
        let Member { line, root, .. } = self.members[event.member as usize];
        self.with[at] = line;
        match view.other.peer[at] {
            NONE => {
                self.fell(Some(root), view);
                self.shift(event.peer, root, view);
            }
            next => {
                self.root[at] = root;
                self.joined[at] = self.now;
                self.join(next, root, view);
            }
        }
    }

    /// A line needs no peer any more: the other lines of its path get their peers.
    fn release(&mut self, line: u32, root: u32, view: &mut View) {
        self.fell(Some(root), view);
        if line != root {
            let peer = std::mem::replace(&mut view.own.peer[line as usize], NONE);
            self.shift(peer, root, view);
        }
    }

    /// Shifts every line on the path from `root` by one peer; the last gets `peer`.
    fn shift(&self, mut peer: u32, root: u32, view: &mut View) {
        loop {
            let line = self.with[peer as usize];
            let given_up = view.own.peer[line as usize];
            view.assign(line, peer);
            if line == root {
                return;
            }
            peer = given_up;
        }
    }

    /// Removes the tree with this root, or all trees, from the forest; its potentials are then
    /// fixed.
    fn fell(&mut self, root: Option<u32>, view: &mut View) {
        let now = self.now;
        self.trees = root.map_or(0, |_| self.trees - 1);
        self.standing.retain(|&member| {
            let member = &mut self.members[member as usize];
            if root.is_some_and(|root| member.root != root) {
                return true;
            }
            member.root = NONE;
            view.own.potential[member.line as usize] = member.key - now;
            let peer = view.own.peer[member.line as usize];
            if peer == NONE {
                return false;
            }
            let at = peer as usize;
            self.root[at] = NONE;
            view.other.potential[at] += now - self.joined[at];
            for (member, due) in self.later[at].drain(..) {
                let time = due + view.other.potential[at];
                self.events.push(Reverse(Event {
                    time,
                    peer,
                    member,
                    due,
                }));
            }
            false
        });
    }
}
