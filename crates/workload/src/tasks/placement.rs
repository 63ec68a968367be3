//! The servers of a job.

use lightloom_engine::{Cluster, HostId, Refusal};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, value::SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The servers of a job: "first", "spread", or their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Servers 0, 1, 2, …: one rack after another.
    #[default]
    First,
    /// The first server of each rack, then the second of each rack, and so on.
    Spread,
    /// These servers, in this order.
    List(Vec<u32>),
}

impl Placement {
    /// The `count` servers; by default all that are listed, or all that there are.
    ///
    /// # Errors
    /// A refusal of `hosts` or `placement`: fewer than `least` servers, more than there are, or a
    /// list that contains a server twice or an unknown one.
    pub(crate) fn hosts(
        &self,
        count: Option<u32>,
        least: u32,
        cluster: &Cluster,
    ) -> Result<Vec<HostId>, Refusal> {
        let there = cluster.hosts();
        let listed = match self {
            Placement::List(list) => {
                check_list(list, there)?;
                Some(list.len() as u32)
            }
            _ => None,
        };
        let count = count.or(listed).unwrap_or(there);
        let refuse = |limit: String, remedy: &str| Refusal::new("hosts", count, limit, remedy);
        if listed.is_some_and(|n| n != count) {
            let limit = format!("placement lists {} servers", listed.unwrap_or_default());
            return Err(refuse(limit, "remove it: the list has the number"));
        }
        if count < least {
            return Err(refuse(format!("needs at least {least}"), "raise it"));
        }
        if count > there {
            let limit = format!("the cluster has {there} servers");
            return Err(refuse(limit, "lower it, or enlarge the cluster"));
        }
        Ok(match self {
            Placement::First => (0..count).map(HostId).collect(),
            Placement::Spread => (0..count).map(|k| spread(k, cluster)).collect(),
            Placement::List(list) => list.iter().copied().map(HostId).collect(),
        })
    }
}

/// The k-th server if racks take turns.
fn spread(k: u32, cluster: &Cluster) -> HostId {
    HostId(k % cluster.racks * cluster.servers_per_rack + k / cluster.racks)
}

fn check_list(list: &[u32], hosts: u32) -> Result<(), Refusal> {
    let refuse = |at: usize, limit: String, remedy: &str| {
        Err(Refusal::new(
            format!("placement[{at}]"),
            list[at],
            limit,
            remedy,
        ))
    };
    if let Some(at) = list.iter().position(|&h| h >= hosts) {
        let limit = format!("the cluster's servers are 0 to {}", hosts - 1);
        return refuse(at, limit, "name one of them");
    }
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by_key(|&i| list[i]);
    match order.windows(2).find(|w| list[w[0]] == list[w[1]]) {
        Some(twice) => refuse(
            twice[1],
            "is listed twice".to_owned(),
            "name each server once",
        ),
        None => Ok(()),
    }
}

const RULES: [&str; 2] = ["first", "spread"];

impl Serialize for Placement {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Placement::First => s.serialize_str(RULES[0]),
            Placement::Spread => s.serialize_str(RULES[1]),
            Placement::List(list) => list.serialize(s),
        }
    }
}

impl<'de> Deserialize<'de> for Placement {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Placement, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Placement;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"first\", \"spread\" or a list of servers")
            }
            fn visit_str<E: de::Error>(self, rule: &str) -> Result<Placement, E> {
                match rule {
                    "first" => Ok(Placement::First),
                    "spread" => Ok(Placement::Spread),
                    _ => Err(crate::kinded::unknown_kind("", rule, &RULES)),
                }
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Placement, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Placement::List)
            }
        }
        d.deserialize_any(Visitor)
    }
}

impl JsonSchema for Placement {
    fn schema_name() -> Cow<'static, str> {
        "Placement".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Servers on which a job runs.",
            "anyOf": [
                { "const": RULES[0], "description": "Servers 0, 1, 2, …: one rack after another." },
                {
                    "const": RULES[1],
                    "description": "The first server of each rack, then the second, and so on.",
                },
                { "description": "These servers, in this order.",
                  "type": "array", "items": generator.subschema_for::<u32>() },
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::tests::cluster;
    use lightloom_engine::config;
    use serde_json::{json, Value};

    #[derive(Debug, Deserialize)]
    struct Outer {
        placement: Placement,
    }

    fn place(v: Value, count: Option<u32>) -> Result<Vec<u32>, String> {
        config::read::<Outer>(&json!({ "placement": v }), "")
            .and_then(|o| o.placement.hosts(count, 2, &cluster(4, 3)))
            .map(|hosts| hosts.iter().map(|h| h.0).collect())
            .map_err(|e| e.to_string())
    }

    #[test]
    fn every_rule_names_servers() {
        assert_eq!(place(json!("first"), Some(5)).unwrap(), [0, 1, 2, 3, 4]);
        assert_eq!(place(json!("spread"), Some(6)).unwrap(), [0, 3, 6, 9, 1, 4]);
        assert_eq!(place(json!([7, 2]), None).unwrap(), [7, 2]);
        let mut all = place(json!("spread"), None).unwrap();
        all.sort_unstable();
        assert_eq!(all, (0..12).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_written_reads_back() {
        for v in [json!("first"), json!("spread"), json!([3, 1])] {
            let o: Outer = config::read(&json!({ "placement": v }), "").unwrap();
            assert_eq!(serde_json::to_value(&o.placement).unwrap(), v);
        }
    }

    #[test]
    fn refusals_name_the_key() {
        for (v, count, start) in [
            (
                json!("first"),
                Some(13),
                "hosts = 13: the cluster has 12 servers; lower it",
            ),
            (json!("spread"), Some(1), "hosts = 1: needs at least 2"),
            (
                json!("sprad"),
                None,
                "placement = \"sprad\": must be one of \"first\", \"spread\"; did you",
            ),
            (
                json!([1, 2, 12]),
                None,
                "placement[2] = 12: the cluster's servers are 0 to 11",
            ),
            (json!([1, 2, 1]), None, "placement[2] = 1: is listed twice"),
            (json!([1, 2]), Some(3), "hosts = 3: placement lists 2"),
            (json!([]), None, "hosts = 0: needs at least 2"),
            (
                json!(7),
                None,
                "placement = 7: must be \"first\", \"spread\" or a list of servers",
            ),
        ] {
            let e = place(v, count).unwrap_err();
            assert!(e.starts_with(start), "{e}");
        }
    }
}
