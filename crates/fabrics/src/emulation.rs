//! How a testbed on Linux emulates a fabric.

use serde::Serialize;

/// The data plane of a testbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Plane {
    /// Queues and rules of the kernel, for circuits that last for at least 10 ms.
    Kernel,
    /// A process that moves packets, for days and nights.
    User,
}

/// The emulation of a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Emulation {
    /// The data plane that carries its packets.
    pub plane: Plane,
    /// Whether its servers may tag packets for a path, by rules of their own.
    pub server_rules: bool,
    /// The keys of its table whose sum is the time from a circuit's going dark to the light of the
    /// next one.
    pub dark: &'static [&'static str],
}
