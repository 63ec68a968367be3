//! Named designs.

use super::Design;
use crate::cdr::{Cdr, Recovery};
use crate::grating::Grating;
use crate::guardband::Guard;
use crate::laser::{Laser, LaserKind};
use crate::receiver::Modulation;
use lightloom_engine::{Rate, Time};

/// A named design.
pub struct Preset {
    /// The name that users write.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The design.
    pub design: fn() -> Design,
}

/// All of them.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "sirius",
        summary: "the devices of the second prototype with gratings of 16 ports, for 4,096 racks \
            (§4.1, §6)",
        design: Design::default,
    },
    Preset {
        name: "sirius-100",
        summary: "the same with gratings of 100 ports, as in the link budget (§4.5)",
        design: of_100_ports,
    },
    Preset {
        name: "sirius-bank",
        summary: "a bank of tunable lasers in slots of 100 ns (§4.5)",
        design: of_a_bank,
    },
    Preset {
        name: "sirius-v1",
        summary:
            "the first prototype: four nodes, a damped DSDBR laser, NRZ, a guardband of 100 ns \
            (§6)",
        design: prototype_1,
    },
];

impl crate::named::Preset for Design {
    fn presets() -> Vec<(&'static str, &'static str, Design)> {
        let of = |preset: &Preset| (preset.name, preset.summary, (preset.design)());
        PRESETS.iter().map(of).collect()
    }
}

fn of_100_ports() -> Design {
    Design {
        grating: Grating {
            ports: 100,
            ..Grating::default()
        },
        ..Design::default()
    }
}

fn of_a_bank() -> Design {
    Design {
        laser: Laser::of(LaserKind::TunableBank),
        slot: Some(Time::NS * 100),
        ..Design::default()
    }
}

/// 92 ns for the laser and the cell's preamble (§6); a burst-mode receiver locks in its 8 ns.
fn prototype_1() -> Design {
    Design {
        grating: Grating {
            ports: 4,
            ..Grating::default()
        },
        laser: Laser::of(LaserKind::Dsdbr),
        modulation: Modulation::Nrz,
        channel_rate: Rate(25 * Rate::GBPS.0),
        uplinks: 1,
        cdr: Cdr {
            kind: Recovery::BurstMode,
            ..Cdr::default()
        },
        guard: Guard {
            sync: Some(Time::ZERO),
            amplitude: Some(Time::ZERO),
            preamble: Some(Time::ZERO),
            ..Guard::default()
        },
        ..Design::default()
    }
}
