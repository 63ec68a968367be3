//! The Linux testbed: two planes that forward packets between hosts in network namespaces.
//!
//! Real applications run in the namespaces. One of the two planes emulates the racks, the
//! electrical network and the optical switches between them. `lightloom.testbed` in Python creates
//! the namespaces and the devices. The controller is the one of the simulated fabrics.
//!
//! | file | contents |
//! |---|---|
//! | [`namespace`] | running a function inside a network namespace |
//! | [`kernel_plane`] | tc-eBPF: circuits of 10 ms and longer, with atomic changes |
//! | [`user_plane`] | TAP devices and queues in user space: days of 100 µs and longer |
//! | [`tap`] | a TAP device |
//! | [`sockets`] | bytes that wait in the sockets of a namespace (c-Through §4.1) |
//! | [`backlog`] | the queues of the interfaces of a namespace |
//! | [`counters`] | byte and packet counters of the interfaces of a namespace |

#![cfg(target_os = "linux")]

pub mod backlog;
pub mod counters;
pub mod kernel_plane;
pub mod namespace;
pub mod sockets;
pub mod tap;
pub mod user_plane;
