//! The flows over each link, the flows whose bottleneck it is, and the flows that the next solution
//! visits after a change.

use super::{Fair, LinkId, Slot, HOPS_MAX, NONE};

impl Fair {
    pub(super) fn touch(&mut self, link: LinkId) {
        self.dirty = true;
        let touched = &mut self.links[link.index()].touched;
        if !std::mem::replace(touched, true) {
            self.touched.push(link.0);
        }
    }

    /// Marks a flow that takes part in the next solution because it has no rate.
    pub(super) fn freshen(&mut self, slot: Slot) {
        self.dirty = true;
        if !std::mem::replace(&mut self.flows[slot.index()].fresh, true) {
            self.fresh.push(slot.0);
        }
    }

    /// Removes the rate of a flow.
    pub(super) fn unsettle(&mut self, slot: Slot) {
        let bottleneck = self.disown(slot.0);
        let flow = &mut self.flows[slot.index()];
        let (rate, weight) = (flow.rates(), flow.weights());
        let hops = flow.hops as usize;
        flow.rate = 0;
        let first = slot.index() * HOPS_MAX;
        for hop in first..first + hops {
            let link = self.path[hop];
            self.touch(link);
            let books = &mut self.links[link.index()];
            books.load -= rate;
            if bottleneck == link.0 {
                books.own_rate -= rate;
                books.own_weight -= weight;
            }
        }
    }

    /// Makes a link the bottleneck of a flow.
    #[inline]
    pub(super) fn own(&mut self, slot: u32, link: u32) {
        let flow = &mut self.flows[slot as usize];
        flow.bottleneck = link;
        if link != NONE {
            let own = &mut self.own[link as usize];
            flow.place = own.len() as u32;
            own.push(slot);
        }
    }

    /// Removes a flow from the list of its bottleneck, wherever it is.
    #[inline]
    pub(super) fn disown(&mut self, slot: u32) -> u32 {
        let flow = &mut self.flows[slot as usize];
        let (link, place) = (flow.bottleneck, flow.place as usize);
        flow.bottleneck = NONE;
        if link != NONE {
            let own = &mut self.own[link as usize];
            own.swap_remove(place);
            if let Some(&moved) = own.get(place) {
                self.flows[moved as usize].place = place as u32;
            }
        }
        link
    }

    pub(super) fn attach(&mut self, slot: Slot, path: &[LinkId]) {
        assert!(path.len() <= HOPS_MAX, "a path of more than 16 links");
        let flow = &mut self.flows[slot.index()];
        assert!(
            !path.is_empty() || flow.limit != u64::MAX,
            "nothing bounds the flow"
        );
        flow.hops = path.len() as u8;
        for (k, &link) in path.iter().enumerate() {
            let hop = slot.index() * HOPS_MAX + k;
            let members = &mut self.members[link.index()];
            self.path[hop] = link;
            self.place[hop] = members.len() as u32;
            members.push(hop as u32);
            self.touch(link);
        }
    }

    pub(super) fn detach(&mut self, slot: Slot) {
        let first = slot.index() * HOPS_MAX;
        for hop in first..first + self.flows[slot.index()].hops as usize {
            let place = self.place[hop] as usize;
            let members = &mut self.members[self.path[hop].index()];
            members.swap_remove(place);
            if let Some(&moved) = members.get(place) {
                self.place[moved as usize] = place as u32;
            }
        }
        self.flows[slot.index()].hops = 0;
    }
}
