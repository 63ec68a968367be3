//! Threshold rotation: pairs of racks whose mutual demand exceeds a threshold keep their circuit,
//! all others take turns. The policy is for collectives, in which some racks exchange gigabytes for
//! minutes and the pairs are not known beforehand. CONTRIBUTING.md explains it step by step; `cargo
//! run -p lightloom-control --example threshold` runs it.
//!
//! One bidirectional circuit per rack. *Not modelled*: hysteresis (a pair near the threshold
//! repeatedly gains and loses its circuit), and racks that exceed the threshold with several
//! partners.

use lightloom_control::circuits::Circuits;
use lightloom_control::controller::{Action, Controller, Input, Timing};
use lightloom_control::demand::{Estimation, Estimator, Queue, Report};
use lightloom_control::hardware::Hardware;
use lightloom_control::order::Order;
use lightloom_control::policies::{self, Decides, Entry, PolicyConfig, Usual};
use lightloom_control::policy::{Demand, Policy, SwitchView, Target};
use lightloom_engine::{Bytes, Rate, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// ---- the table: what users write after `policy =` --------------------------

/// Keeps the circuits of pairs of racks with much mutual demand, and rotates the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct ThresholdPolicy {
    /// Pairs of racks with more mutual demand than this, in both directions together, keep their
    /// circuit [B]. Default 100 MB. At most 1 TB.
    threshold: Bytes,
}

impl Default for ThresholdPolicy {
    fn default() -> ThresholdPolicy {
        ThresholdPolicy {
            threshold: Bytes(100_000_000),
        }
    }
}

impl PolicyConfig for ThresholdPolicy {
    fn check(&self, hardware: &Hardware) -> Result<(), Refusal> {
        hardware.require_one_port("threshold")?;
        if self.threshold.0 <= 1_000_000_000_000 {
            return Ok(());
        }
        let (key, limit) = ("policy.threshold", "must be at most 1 TB");
        Err(Refusal::new(key, self.threshold, limit, "lower it"))
    }

    fn build(self, _: &Hardware) -> Box<dyn Policy> {
        Box::new(Threshold {
            threshold: self.threshold.0 as i64,
            turn: 0,
        })
    }
}

// // ---- the entry in the registry ---------------------------------------------

const ENTRY: Entry = Entry {
    kind: "threshold",
    aliases: &[],
    source: "CONTRIBUTING.md",
    summary: "Racks with more than a threshold for each other keep their circuit, others turn.",
    decides: Decides::Circuits,
    obeys_rules: false,
    usual: Usual::ONE_PORT,
    schema: policies::schema::<ThresholdPolicy>,
    resolve: policies::resolve::<ThresholdPolicy>,
    for_demand: policies::for_demand::<ThresholdPolicy>,
    build: policies::build::<ThresholdPolicy>,
};

// ---- the policy ------------------------------------------------------------

struct Threshold {
    /// The threshold [B].
    threshold: i64,
    turn: usize,
}

impl Policy for Threshold {
    fn decide(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        let both_ways = |a: u32, b: u32| {
            let (a, b) = (a as usize, b as usize);
            seen.bytes.get(a, b) + seen.bytes.get(b, a)
        };
        let mut pairs = switch.lit.pairs();
        pairs.retain(|&(a, b)| both_ways(a, b) > self.threshold);
        let busy: Vec<u32> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
        let racks = 0..switch.hardware.racks;
        let free = racks.filter(|&rack| switch.works(rack, 0) && !busy.contains(&rack));
        pairs.extend(in_turn(&free.collect::<Vec<u32>>(), self.turn));
        self.turn += 1;
        Ok(Target::direct(Circuits::both_ways(pairs)))
    }

    /// Circuits that stay are never dark.
    fn order(&self) -> Order {
        Order::DELETE_CREATE
    }
}

/// Connects racks whose positions add up to the turn, modulo their number: every two of n racks
/// meet once in n turns. A rack whose position is half of the turn waits.
fn in_turn(free: &[u32], turn: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
    let n = free.len();
    let meets = move |p: usize| (turn % n + n - p) % n;
    (0..n)
        .filter(move |&p| p < meets(p))
        .map(move |p| (free[p], free[meets(p)]))
}

// ---- one decision, through the controller ----------------------------------

/// A controller and a switch that carries out each action at once.
struct Bench {
    controller: Controller<Box<dyn Policy>>,
    /// All actions so far.
    actions: Vec<Action>,
}

impl Bench {
    fn new(racks: u32, table: &serde_json::Value) -> Result<Bench, Refusal> {
        let hardware = Hardware::new(racks, 1, Rate(100 * Rate::GBPS.0));
        let timing = Timing {
            interval: Time::S,
            computation_delay: Time::ZERO,
        };
        let estimator = Estimator::new(Estimation::plain(racks, 1));
        let policy = (ENTRY.build)(table, &hardware)?;
        let mut bench = Bench {
            controller: Controller::new(policy, hardware, timing, estimator),
            actions: Vec::new(),
        };
        bench.tell(Time::ZERO, Input::Tick, &[])?;
        Ok(bench)
    }

    /// The circuits that are lit after the decision of second `s`, for racks with this demand:
    /// (from, to, bytes).
    fn decide(&mut self, s: i64, have: &[(u32, u32, u64)]) -> Result<Vec<(u32, u32)>, Refusal> {
        self.tell(Time::S * s, Input::Tick, have)?;
        let mut lit = self.controller.lit().pairs();
        lit.sort_unstable();
        Ok(lit)
    }

    /// Passes an input to the controller and answers its actions until it requests nothing more.
    fn tell(&mut self, now: Time, input: Input, have: &[(u32, u32, u64)]) -> Result<(), Refusal> {
        let mut asked = Vec::new();
        self.controller.on(now, input, &mut asked)?;
        for action in asked {
            let answer = match &action {
                Action::Measure => Some(Input::Demand(Report {
                    queues: have.iter().copied().map(Queue::from).collect(),
                })),
                // The computation ends at once.
                Action::WakeAt(at) => (*at <= now).then_some(Input::Tick),
                _ => action.step().map(Input::Done),
            };
            self.actions.push(action);
            if let Some(answer) = answer {
                self.tell(now, answer, have)?;
            }
        }
        Ok(())
    }
}

fn main() -> Result<(), Refusal> {
    let mut bench = Bench::new(4, &serde_json::json!({"threshold": "10 MB"}))?;
    for s in 1..=4 {
        let lit = bench.decide(s, &[(0, 3, 20_000_000)])?;
        println!("after {s} s: {lit:?}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bench(racks: u32) -> Bench {
        Bench::new(racks, &json!({"threshold": "100 B"})).expect("a good table")
    }

    #[test]
    fn without_demand_everybody_meets_everybody() {
        let mut bench = bench(5);
        let mut met: Vec<_> = (1..=5)
            .flat_map(|s| bench.decide(s, &[]).unwrap())
            .collect();
        met.sort_unstable();
        let all = (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b)));
        assert_eq!(met, all.collect::<Vec<_>>());
    }

    /// Positions that add up to 0, 1, 2 modulo their number. Racks 1 and 4 have 150 B for each
    /// other when they are connected, and 100 B a second later.
    #[test]
    fn racks_above_the_threshold_keep_their_circuit() {
        let mut bench = bench(5);
        assert_eq!(bench.decide(1, &[]), Ok(vec![(1, 4), (2, 3)]));
        let much = [(1, 4, 90), (4, 1, 60)];
        // The first two of 0, 2 and 3 meet.
        assert_eq!(bench.decide(2, &much), Ok(vec![(0, 2), (1, 4)]));
        assert_eq!(bench.decide(3, &[(1, 4, 100)]), Ok(vec![(0, 2), (3, 4)]));
    }

    /// Circuits are deleted, then created; the circuit that stays is in neither list.
    #[test]
    fn what_stays_is_never_dark() {
        let mut bench = bench(5);
        bench.decide(1, &[]).unwrap();
        let before = bench.actions.len();
        bench.decide(2, &[(1, 4, 150)]).unwrap();
        let steps = bench.actions[before..].iter();
        let changed: Vec<_> = steps
            .filter_map(|action| match action {
                Action::Dark(_, circuits) => Some(("dark", circuits.pairs())),
                Action::Light(_, circuits) => Some(("light", circuits.pairs())),
                _ => None,
            })
            .collect();
        assert_eq!(changed, [("dark", vec![(2, 3)]), ("light", vec![(0, 2)])]);
    }

    #[test]
    fn racks_without_a_port_have_no_turn() {
        let mut bench = bench(4);
        bench.tell(Time::ZERO, Input::PortDown(3, 0), &[]).unwrap();
        let met: Vec<_> = (1..=3)
            .flat_map(|s| bench.decide(s, &[]).unwrap())
            .collect();
        // Racks 0, 1 and 2: positions that add up to 0, 1, 2 modulo 3.
        assert_eq!(met, [(1, 2), (0, 1), (0, 2)]);
    }

    #[test]
    fn bad_tables_are_refused_by_name() {
        let hardware = Hardware::new(4, 1, Rate::GBPS);
        let resolved = (ENTRY.resolve)(&json!({}), &hardware);
        assert_eq!(resolved, Ok(json!({"threshold": "100 MB"})));
        let refused = |table| (ENTRY.resolve)(&table, &hardware).unwrap_err().to_string();
        assert!(refused(json!({"threshold": "2 TB"})).starts_with("policy.threshold = 2 TB"));
        assert!(refused(json!({"threshhold": "2 B"})).contains("did you mean \"threshold\""));
        let two = Hardware::new(4, 2, Rate::GBPS);
        assert_eq!((ENTRY.resolve)(&json!({}), &two).unwrap_err().key, "planes");
        let described = (ENTRY.schema)().to_string();
        assert!(described.contains("keep their circuit") || described.contains("circuit [B]"));
    }
}
