//! The engine of Lightloom. Only the engine has the clock, horizons, faults, sampling, progress and
//! results. It contains no fabric.
//!
//! A fabric is a [`Fabric`], usually made from one of the small [`kernel`]s;
//! [`run::run`] moves it from horizon to horizon.
//!
//! | module | contents |
//! |---|---|
//! | [`fabric`] | the trait between engine and fabric, and a fabric's description of itself |
//! | [`kernel`] | slots, events, flows by rates: the interfaces for authors of fabrics, and their drivers |
//! | [`run`] | the run loop: horizons, faults, samples, the end |
//! | [`outages`] | failures of one part that overlap, as commands of a run |
//! | [`io`] | arrivals, flow columns and the ledger, as a fabric sees them |
//! | [`deliveries`] | bytes delivered by given instants |
//! | [`flows`], [`dag`], [`ids`] | the flows to send, and their results; flows that depend on each other; indices |
//! | [`cluster`] | servers and racks |
//! | [`agenda`], `indexed` | scheduled events: a calendar queue of events; a heap of ranks that change |
//! | [`fair`] | max-min fair rates |
//! | [`time`], [`quantity`], `units` | picoseconds and bits per second; `"100 ns"` as users write it |
//! | [`config`], [`mistyped`], [`refusal`] | tables read into types; refusals in users' terms |
//! | [`rng`] | random streams by name |
//! | [`halt`] | an end that another thread requests |
//! | [`audit`] | every transmission, for tests |

pub mod agenda;
pub mod audit;
pub mod cluster;
pub mod config;
pub mod dag;
pub mod deliveries;
pub mod fabric;
pub mod fair;
pub mod flows;
pub mod halt;
pub mod ids;
mod indexed;
pub mod io;
pub mod kernel;
pub mod mistyped;
pub mod outages;
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
pub use deliveries::Deliveries;
pub use fabric::{
    Circuit, Command, ControlRecord, Element, Fabric, LinkLoad, QueuePlace, Rejected, Reports,
    Shape, SwitchTier, Totals, View,
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
