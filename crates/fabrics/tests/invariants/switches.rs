//! Failures of links and switches of electrical networks, and of rotor switches; each is repaired.

use lightloom_engine::run::Fault;
use lightloom_engine::{Command, Element, SwitchTier, Time};
use proptest::prelude::*;

/// A failure: the part, by numbers that are reduced to those of a fabric, its time and its
/// duration.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    kind: u8,
    numbers: (u32, u32),
    at: Time,
    lasts: Time,
}

/// The number of parts of each kind.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// Racks.
    pub racks: u32,
    /// Uplinks of each.
    pub uplinks: u32,
    /// Aggregation switches of all pods; 0 if there are none.
    pub aggregation: u32,
    /// Core switches.
    pub core: u32,
}

/// No failure in half of all cases, otherwise up to three, each with a repair.
pub fn failures() -> impl Strategy<Value = Vec<Failure>> {
    let span = || (0i64..200_000_000).prop_map(Time);
    let failure =
        (0u8..3, any::<(u32, u32)>(), span(), span()).prop_map(|(kind, numbers, at, lasts)| {
            Failure {
                kind,
                numbers,
                at,
                lasts,
            }
        });
    prop_oneof![Just(Vec::new()), prop::collection::vec(failure, 1..4)]
}

/// Converts failures to the engine's form.
pub fn faults(failures: &[Failure], parts: Parts) -> Vec<Fault> {
    let mut faults = Vec::new();
    for f in failures {
        let (a, b) = f.numbers;
        let element = match f.kind {
            0 if parts.aggregation > 0 => {
                let (tier, index) = (SwitchTier::Aggregation, a % parts.aggregation);
                Element::Switch { tier, index }
            }
            1 => {
                let (tier, index) = (SwitchTier::Core, a % parts.core);
                Element::Switch { tier, index }
            }
            _ => Element::Transceiver {
                node: a % parts.racks,
                uplink: b % parts.uplinks,
            },
        };
        let fail = Command::Fail { element, loss: 1.0 };
        faults.push(Fault {
            at: f.at,
            command: fail,
        });
        faults.push(Fault {
            at: f.at + f.lasts,
            command: Command::Repair(element),
        });
    }
    faults.sort_by_key(|f| f.at);
    faults
}

/// Failures of rotor switches: number, time and duration. There are none in half of all cases.
pub type Rotors = Vec<(u32, Time, Time)>;

/// Up to three failures, each with a repair.
pub fn rotors() -> impl Strategy<Value = Rotors> {
    let at = prop_oneof![Just(0i64), 0i64..200_000_000].prop_map(Time);
    let rotor = (any::<u32>(), at, (1i64..200_000_000).prop_map(Time));
    prop_oneof![Just(Vec::new()), prop::collection::vec(rotor, 1..4)]
}

/// Converts failures of rotor switches to the engine's form, for this number of planes.
pub fn rotor_faults(rotors: &Rotors, planes: u32) -> Vec<Fault> {
    let mut faults = Vec::new();
    for &(number, at, lasts) in rotors {
        let (element, loss) = (Element::Plane(number % planes), 1.0);
        let mut push = |at, command| faults.push(Fault { at, command });
        push(at, Command::Fail { element, loss });
        push(at + lasts, Command::Repair(element));
    }
    faults.sort_by_key(|f| f.at);
    faults
}
