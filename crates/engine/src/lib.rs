//! The engine of Lightloom: it alone owns the clock, horizons, faults,
//! sampling, progress and results. It knows no fabric.
//!
//! A fabric is a [`Fabric`], usually made from one of the small [`kernel`]s;
//! [`run::run`] moves it from horizon to horizon.

pub mod agenda;
pub mod audit;
pub mod cluster;
pub mod config;
pub mod dag;
pub mod fabric;
pub mod fair;
pub mod flows;
pub mod halt;
pub mod ids;
mod indexed;
pub mod io;
pub mod kernel;
pub mod mistyped;
pub mod quantity;
pub mod refusal;
pub mod rng;
pub mod run;
pub mod time;
mod units;

pub use agenda::Agenda;
pub use audit::{Audit, Load, Transmission};
pub use cluster::{Cluster, Nic};
pub use dag::{Dag, Node, Task};
pub use fabric::{
    Circuit, Command, ControlRecord, Element, Fabric, Rejected, Reports, Shape, SwitchTier, Totals,
    View,
};
pub use fair::Precision;
pub use flows::{Dependencies, Flows, Job};
pub use halt::Halt;
pub use ids::{FlowId, HostId, PortId};
pub use io::{Io, Ledger};
pub use quantity::{Bytes, Length};
pub use refusal::{check_range, Refusal};
pub use rng::Stream;
pub use time::{Rate, Time};
