//! Tuning times of every laser: `cargo run --release -p lightloom-photonics --example tuning`.

use lightloom_photonics::laser::{Laser, LaserKind};
use std::time::Instant;

fn main() {
    for kind in LaserKind::ALL {
        let began = Instant::now();
        let tuning = Laser::of(kind).tuning(112);
        let took = began.elapsed();
        if let Some(found) = tuning.distribution() {
            println!(
                "{kind:?}: {} pairs, median {}, p99 {}, worst {} ({took:.1?})",
                found.pairs, found.median, found.p99, found.worst
            );
        }
    }
}
