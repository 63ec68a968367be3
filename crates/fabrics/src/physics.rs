//! The physics that all fabrics of an experiment share, and their effect on each.
//!
//! An experiment states the physics once ([`Physics`]), with the oversubscription of all electrical
//! networks. A fabric states which keys of its own table follow them ([`Obeyed`]), and which terms
//! its model does not have: these are reported, and none is dropped silently. Its own keys and its
//! presets take precedence.

use crate::discipline::Discipline;
use lightloom_engine::{Bytes, Rate, Time};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// The terms that apply to every network of an experiment. If a term is not given, each fabric has
/// its own default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Physics {
    /// Propagation from any rack to any other, over all links of a path together.
    pub propagation: Option<Time>,
    /// Time from the arrival of a packet's last bit at an idle electrical switch until the switch
    /// sends the first bit.
    pub switch_latency: Option<Time>,
    /// Time that encoding and decoding add on every link between racks or switches.
    pub fec_latency: Option<Time>,
    /// Bytes of every packet, frame or cell beside its payload.
    pub header: Option<Bytes>,
    /// Preamble and silence after a packet, for fabrics that have no other gap between packets.
    pub gap: Option<Bytes>,
    /// Capacity of a rack's servers ÷ capacity of the electrical network for them; a key of the
    /// cluster.
    pub oversubscription: Option<f64>,
    /// Order in which servers' links serve flows, if it is not the default; a key of the cluster.
    pub discipline: Option<Discipline>,
    /// Rate of a server's link; a key of the cluster. It is given only while an experiment is being
    /// completed, and only if the experiment's file sets it. A completed cluster always has a rate,
    /// so the file's own setting is not visible there.
    pub nic: Option<Rate>,
}

impl Physics {
    /// Whether no term is given.
    pub fn is_empty(&self) -> bool {
        *self == Physics::default()
    }

    /// Bytes that each packet adds to its payload on a link; `None` if neither part was given.
    pub fn framing(&self) -> Option<Bytes> {
        let part = |bytes: Option<Bytes>| bytes.map_or(0, |b| b.0);
        let given = self.header.is_some() || self.gap.is_some();
        given.then(|| Bytes(part(self.header) + part(self.gap)))
    }
}

/// A term of [`Physics`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// [`Physics::propagation`].
    Propagation,
    /// [`Physics::switch_latency`].
    SwitchLatency,
    /// [`Physics::fec_latency`].
    FecLatency,
    /// [`Physics::header`].
    Header,
    /// [`Physics::gap`].
    Gap,
    /// [`Physics::oversubscription`].
    Oversubscription,
    /// [`Physics::discipline`].
    Discipline,
    /// [`Physics::nic`].
    Nic,
}

impl Term {
    /// The key by which an experiment states it.
    pub fn key(self) -> &'static str {
        match self {
            Term::Propagation => "physics.propagation",
            Term::SwitchLatency => "physics.switch_latency",
            Term::FecLatency => "physics.fec_latency",
            Term::Header => "physics.header",
            Term::Gap => "physics.gap",
            Term::Oversubscription => "cluster.oversubscription",
            Term::Discipline => "cluster.discipline",
            Term::Nic => "cluster.nic",
        }
    }
}

/// A term is serialized as its key.
impl Serialize for Term {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.key())
    }
}

/// A key by which a fabric obeys a term.
#[derive(Clone, Debug, PartialEq)]
pub struct Obeying {
    /// The term.
    pub term: Term,
    /// The key of the fabric's table.
    pub key: &'static str,
    /// Its value, as the table holds it.
    pub value: Value,
}

/// The effect of [`Physics`] on a fabric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Obeyed {
    /// Keys of its table, with lower priority than the keys of the table and its preset.
    pub keys: Vec<Obeying>,
    /// Given terms that its model does not have, each with the reason.
    pub missing: Vec<(Term, &'static str)>,
}

impl Obeyed {
    /// Obeys a term, if it is given, by a key.
    pub fn by(mut self, term: Term, key: &'static str, value: Option<impl Serialize>) -> Obeyed {
        if let Some(value) = value {
            let value = serde_json::to_value(value).expect("quantities are plain data");
            self.keys.push(Obeying { term, key, value });
        }
        self
    }

    /// Does not obey a term, if it is given, because of `why`.
    pub fn lacks<T>(mut self, term: Term, given: Option<T>, why: &'static str) -> Obeyed {
        if given.is_some() {
            self.missing.push((term, why));
        }
        self
    }

    /// Obeys the oversubscription of an electrical network.
    pub fn oversubscribed(self, physics: &Physics) -> Obeyed {
        let ratio = physics.oversubscription;
        self.by(Term::Oversubscription, "oversubscription", ratio)
    }

    /// Obeys the order in which servers' links serve flows.
    pub fn disciplined(self, physics: &Physics) -> Obeyed {
        self.by(Term::Discipline, "discipline", physics.discipline)
    }

    /// Does not obey an order in which servers' links serve flows, because flows share the links by
    /// rates.
    pub fn shared_by_rates(self, physics: &Physics) -> Obeyed {
        let why = "flows share every link by rates, so servers' links are fair";
        self.lacks(Term::Discipline, physics.discipline, why)
    }

    /// Follows all physics by the keys with the same names, and the bytes beside the payload by
    /// `header` alone.
    pub fn by_all(physics: &Physics) -> Obeyed {
        Obeyed::default()
            .by(Term::Propagation, "propagation", physics.propagation)
            .by(
                Term::SwitchLatency,
                "switch_latency",
                physics.switch_latency,
            )
            .by(Term::FecLatency, "fec_latency", physics.fec_latency)
            .by(Term::Header, "header", physics.framing())
    }
}

/// The idealised properties of a fabric: the text of each of `terms` that is zero.
pub fn ideal_of(terms: &[(&'static str, bool)]) -> Vec<&'static str> {
    let nothing = terms.iter().filter(|(_, is_nothing)| *is_nothing);
    nothing.map(|(words, _)| *words).collect()
}

/// The reason for a missing term, if the model has nothing similar.
pub const NOT_MODELLED: &str = "not modelled";

/// Whether a value is the default of its type, such as zero. Keys that were added to a fabric later
/// are then left out of its completed table.
pub fn is_nothing<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_frame_is_header_and_gap() {
        let physics = |header: Option<u64>, gap: Option<u64>| Physics {
            header: header.map(Bytes),
            gap: gap.map(Bytes),
            ..Physics::default()
        };
        assert_eq!(physics(None, None).framing(), None);
        assert_eq!(physics(Some(18), None).framing(), Some(Bytes(18)));
        assert_eq!(physics(Some(18), Some(20)).framing(), Some(Bytes(38)));
        assert_eq!(physics(Some(0), Some(0)).framing(), Some(Bytes(0)));
    }

    #[test]
    fn a_term_that_nobody_gave_is_neither_obeyed_nor_missing() {
        assert_eq!(Obeyed::by_all(&Physics::default()), Obeyed::default());
        let given = Physics {
            propagation: Some(Time::NS * 500),
            ..Physics::default()
        };
        let obeyed = Obeyed::by_all(&given).lacks(Term::Gap, given.gap, "no packets");
        let keys: Vec<_> = obeyed
            .keys
            .iter()
            .map(|o| (o.key, o.value.clone()))
            .collect();
        assert_eq!(keys, [("propagation", json!("500 ns"))]);
        assert!(obeyed.missing.is_empty());
    }
}
