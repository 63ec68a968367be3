//! `[cluster]`: the servers that every fabric of the experiment connects.

use lightloom_engine::{config, Cluster, Nic, Rate, Refusal};
use lightloom_fabrics::Discipline;
use schemars::JsonSchema;
use serde::{de, Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::str::FromStr;

/// The servers that every fabric of the experiment connects.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterTable {
    /// Number of racks.
    #[serde(default)]
    pub racks: Option<u32>,
    /// Number of servers in each rack.
    #[serde(default)]
    pub servers_per_rack: Option<u32>,
    /// Number of single nodes, in place of `racks`; each node counts as a rack with one server.
    #[serde(default)]
    pub hosts: Option<u32>,
    /// Sum of the rates of a rack's base uplinks [b/s]. The server rate is this rate divided by the
    /// servers of a rack, rounded to whole bits per second.
    #[serde(default)]
    pub rack_rate: Option<Rate>,
    /// R: rate at which a server sends at load 1 [b/s]; in place of `rack_rate`.
    #[serde(default)]
    pub server_rate: Option<Rate>,
    /// Rate of the link between a server and its rack switch in each direction: a data rate, or
    /// "uncapped", which means as fast as the rack's uplinks (a lone server may use all of them).
    /// Default: `server_rate` if it is given, otherwise "uncapped", because `rack_rate` does not
    /// define the rate of one server.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub nic: Option<NicRule>,
    /// Oversubscription of electrical networks: the rate at which the servers of a rack can send ÷
    /// the rate that the network has for them, from 1 (full bisection) to 1,000. It applies to Clos
    /// networks, trees, and the trees of hybrid fabrics. A fabric's own key takes precedence, then
    /// its preset. Default: 1 for Clos networks and trees, and the papers' values for hybrid
    /// fabrics.
    #[serde(
        default,
        deserialize_with = "ratio",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 1, max = 1000))]
    pub oversubscription: Option<f64>,
    /// Order in which the link between a server and its rack switch, in either direction, serves
    /// the flows that wait for it: "fair" (one packet of each flow in turn) or "fifo" (first in,
    /// first out). A fabric's own key takes precedence. Default "fair". The links are always fair
    /// in fabrics that assign rates to flows, and in `clos`.
    #[serde(default)]
    pub discipline: Option<Discipline>,
}

/// An oversubscription; every invalid value has the same refusal.
fn ratio<'de, D: Deserializer<'de>>(d: D) -> Result<Option<f64>, D::Error> {
    let given = Value::deserialize(d)?;
    match given.as_f64() {
        Some(ratio) if (1.0..=OVERSUBSCRIPTION_MAX).contains(&ratio) => Ok(Some(ratio)),
        _ => Err(config::nested_refusal(Refusal::new(
            "",
            given,
            "must be a number from 1 (full bisection) to 1,000",
            "write 3 for 3:1, or leave it out for each fabric's default",
        ))),
    }
}

/// `nic`: a word or a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub enum NicRule {
    /// The rate of the rack's uplinks.
    Uncapped,
    /// This rate.
    Capped(Rate),
}

impl FromStr for NicRule {
    type Err = String;
    fn from_str(text: &str) -> Result<NicRule, String> {
        match text {
            "uncapped" => Ok(NicRule::Uncapped),
            rate if config::is_quantity(rate) => match rate.parse()? {
                Rate(0) => Err("a server needs a link: write \"uncapped\" or a rate".into()),
                rate => Ok(NicRule::Capped(rate)),
            },
            _ => Err("must be \"uncapped\" or a data rate like \"25 Gb/s\"".into()),
        }
    }
}

impl<'de> Deserialize<'de> for NicRule {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<NicRule, D::Error> {
        let text = config::word_or_quantity(d)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl From<NicRule> for String {
    fn from(nic: NicRule) -> String {
        match nic {
            NicRule::Uncapped => "uncapped".into(),
            NicRule::Capped(rate) => rate.to_string(),
        }
    }
}

impl ClusterTable {
    /// The rate of a server's link, if this table states it.
    pub(crate) fn written_nic(&self) -> Option<Rate> {
        match self.nic? {
            NicRule::Uncapped => None,
            NicRule::Capped(rate) => Some(rate),
        }
    }

    /// The completed table, and the cluster of its racks of servers.
    pub(crate) fn resolve(&self) -> Result<(ClusterTable, Cluster), Refusal> {
        let (racks, servers_per_rack) = self.counts()?;
        let server_rate = self.rate(servers_per_rack)?;
        let usual = self.server_rate.map_or(NicRule::Uncapped, NicRule::Capped);
        let nic = self.nic.unwrap_or(usual);
        let cluster = Cluster {
            racks,
            servers_per_rack,
            server_rate,
            nic: match nic {
                NicRule::Uncapped => Nic::Uncapped,
                NicRule::Capped(rate) => Nic::Capped(rate),
            },
        };
        let table = ClusterTable {
            racks: Some(racks),
            servers_per_rack: Some(servers_per_rack),
            hosts: None,
            nic: Some(nic),
            discipline: Some(self.discipline.unwrap_or_default()),
            ..self.clone()
        };
        Ok((table, cluster))
    }

    fn counts(&self) -> Result<(u32, u32), Refusal> {
        let (racks, servers) = self.given()?;
        let key = if self.hosts.is_some() {
            "cluster.hosts"
        } else {
            "cluster.racks"
        };
        if racks < 2 {
            return Err(Refusal::new(
                key,
                racks,
                "a network connects at least 2",
                "raise it",
            ));
        }
        if servers == 0 {
            return Err(Refusal::new(
                "cluster.servers_per_rack",
                servers,
                "a rack has at least 1 server",
                "raise it",
            ));
        }
        if racks
            .checked_mul(servers)
            .is_none_or(|hosts| hosts > HOSTS_MAX)
        {
            return Err(Refusal::new(
                key,
                racks,
                format!("{racks} × {servers} servers are more than the {HOSTS_MAX} that a cluster may have"),
                "lower it",
            ));
        }
        Ok((racks, servers))
    }

    /// The number of racks and of servers in each, from either of the two forms of the table.
    fn given(&self) -> Result<(u32, u32), Refusal> {
        match (self.hosts, self.racks, self.servers_per_rack) {
            (Some(hosts), None, None) => Ok((hosts, 1)),
            (Some(hosts), _, _) => Err(Refusal::new(
                "cluster.hosts",
                hosts,
                "hosts are racks of one server, but racks are also given",
                "give either hosts, or racks and servers_per_rack",
            )),
            (None, Some(racks), servers) => Ok((racks, servers.unwrap_or(1))),
            (None, None, _) => Err(Refusal::new(
                "cluster.racks",
                "(missing)",
                "required",
                "give racks and servers_per_rack, or hosts",
            )),
        }
    }

    fn rate(&self, servers: u32) -> Result<Rate, Refusal> {
        let (key, rate, share) = match (self.rack_rate, self.server_rate) {
            (Some(rack), None) => {
                let n = servers as u64;
                ("cluster.rack_rate", rack, Rate((rack.0 + n / 2) / n))
            }
            (None, Some(server)) => ("cluster.server_rate", server, server),
            (Some(_), Some(server)) => {
                return Err(Refusal::new(
                    "cluster.server_rate",
                    server,
                    "rack_rate is also given, and determines it",
                    "remove one of the two",
                ))
            }
            (None, None) => {
                return Err(Refusal::new(
                    "cluster.rack_rate",
                    "(missing)",
                    "load and goodput are relative to it",
                    "give rack_rate or server_rate, like \"400 Gb/s\"",
                ))
            }
        };
        match share.0 {
            0 => Err(Refusal::new(
                key,
                rate,
                "less than 1 b/s a server",
                "raise it",
            )),
            bps if bps > RATE_MAX.0 / servers as u64 => Err(Refusal::new(
                key,
                rate,
                format!("a rack may send {RATE_MAX} at most"),
                "lower it",
            )),
            _ => Ok(share),
        }
    }
}

/// Patterns keep a few words for each server, before any flow is drawn: beyond
/// this they would take minutes and gigabytes.
const HOSTS_MAX: u32 = 1 << 24;
/// The limit of every fabric that has an oversubscription.
const OVERSUBSCRIPTION_MAX: f64 = 1_000.0;
/// Keeps sums over all racks within `u64`.
const RATE_MAX: Rate = Rate(1_000_000_000_000_000);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn resolve(table: Value) -> Result<(ClusterTable, Cluster), String> {
        config::read::<ClusterTable>(&table, "cluster")
            .and_then(|t| t.resolve())
            .map_err(|e| e.to_string())
    }

    #[test]
    fn the_rack_rate_gives_the_server_rate_rounded() {
        let (_, c) =
            resolve(json!({"racks": 128, "servers_per_rack": 24, "rack_rate": "400 Gb/s"}))
                .unwrap();
        assert_eq!(c.server_rate, Rate(16_666_666_667));
        let (_, c) =
            resolve(json!({"racks": 2, "servers_per_rack": 4, "server_rate": "25 Gb/s"})).unwrap();
        assert_eq!(c.rack_rate(), Rate(100 * Rate::GBPS.0));
    }

    #[test]
    fn hosts_are_racks_of_one_server() {
        let (table, c) =
            resolve(json!({"hosts": 64, "server_rate": "50 Gb/s", "nic": "10 Gb/s"})).unwrap();
        assert_eq!((c.racks, c.servers_per_rack), (64, 1));
        assert_eq!(c.nic, Nic::Capped(Rate(10 * Rate::GBPS.0)));
        assert_eq!(
            (table.racks, table.servers_per_rack, table.hosts),
            (Some(64), Some(1), None)
        );
        let again = serde_json::to_value(&table).unwrap();
        assert_eq!(resolve(again).unwrap().1, c);
    }

    #[test]
    fn a_server_sends_at_the_rate_that_the_file_gives_it() {
        let nic = |table: Value| {
            let (resolved, cluster) = resolve(table).unwrap();
            let recorded = serde_json::to_value(&resolved).unwrap();
            assert_eq!(resolve(recorded.clone()).unwrap().1, cluster, "{recorded}");
            (cluster.nic, recorded["nic"].clone())
        };
        let ten = Nic::Capped(Rate(10 * Rate::GBPS.0));
        let racks = |key: &str| json!({"racks": 2, "servers_per_rack": 4, key: "10 Gb/s"});
        assert_eq!(nic(racks("server_rate")), (ten, json!("10 Gb/s")));
        assert_eq!(
            nic(racks("rack_rate")),
            (Nic::Uncapped, json!("uncapped")),
            "it is not said of one server"
        );
        for (given, expect) in [("uncapped", Nic::Uncapped), ("10 Gb/s", ten)] {
            for key in ["server_rate", "rack_rate"] {
                let mut table = racks(key);
                table["nic"] = json!(given);
                assert_eq!(nic(table), (expect, json!(given)));
            }
        }
    }

    #[test]
    fn refusals_name_the_key_and_the_remedy() {
        for (table, expect) in [
            (json!({}), "cluster.racks = (missing): required; give racks"),
            (json!({"racks": 4}), "cluster.rack_rate = (missing)"),
            (
                json!({"racks": 1, "rack_rate": "1 Gb/s"}),
                "cluster.racks = 1: ",
            ),
            (
                json!({"hosts": 4, "racks": 4, "rack_rate": "1 Gb/s"}),
                "cluster.hosts = 4: ",
            ),
            (
                json!({"racks": 4, "servers_per_rack": 0, "rack_rate": "1 Gb/s"}),
                "cluster.servers_per_rack = 0: ",
            ),
            (
                json!({"racks": 1_000_000, "servers_per_rack": 1_000_000, "rack_rate": "1 Gb/s"}),
                "cluster.racks = 1000000: ",
            ),
            (
                json!({"racks": 1 << 20, "servers_per_rack": 17, "rack_rate": "1 Gb/s"}),
                "cluster.racks = 1048576: 1048576 × 17 servers are more than the 16777216",
            ),
            (
                json!({"racks": 4, "rack_rate": "0 b/s"}),
                "cluster.rack_rate = 0 b/s: less than 1 b/s",
            ),
            (
                json!({"racks": 4, "rack_rate": "1 Gb/s", "server_rate": "1 Gb/s"}),
                "cluster.server_rate = 1 Gb/s: ",
            ),
            (
                json!({"racks": 4, "rack_rate": "400"}),
                "cluster.rack_rate = \"400\": `400` has no unit",
            ),
            (
                json!({"racks": 4, "rack_rate": "1 Gb/s", "nic": "fast"}),
                "cluster.nic = \"fast\": must be \"uncapped\" or a data rate like",
            ),
            (
                json!({"racks": 4, "rack_rate": "1 Gb/s", "nic": 16.67}),
                "cluster.nic = 16.67: `16.67` has no unit: write a data rate like",
            ),
            (
                json!({"racks": 4, "rack_rate": "1 Gb/s", "nic": true}),
                "cluster.nic = true: must be a word, or a quantity with its unit",
            ),
            (
                json!({"raks": 4}),
                "cluster.raks = 4: no such key; did you mean \"racks\"?",
            ),
        ] {
            let e = resolve(table).unwrap_err();
            assert!(e.starts_with(expect), "{e}");
        }
    }
}
