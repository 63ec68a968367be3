//! The Linux testbed: what moves packets between hosts in network namespaces.
//!
//! Real applications run in the namespaces; racks, the electrical network and the optical
//! switches between them are emulated by one of two planes. Namespaces and devices are laid
//! by `lightloom.testbed` in Python, and the controller is that of every simulated fabric.
//!
//! | file | what it is |
//! |---|---|
//! | [`namespace`] | doing something inside a network namespace |
//! | [`kernel_plane`] | tc-eBPF: circuits of 10 ms and longer, with an atomic change |
//! | [`user_plane`] | TAP devices and queues in user space: days from 100 us |
//! | [`tap`] | a TAP device |
//! | [`sockets`] | what waits in the sockets of a namespace (c-Through §4.1) |
//! | [`counters`] | bytes and packets of the interfaces of a namespace |

#![cfg(target_os = "linux")]

pub mod counters;
pub mod kernel_plane;
pub mod namespace;
pub mod sockets;
pub mod tap;
pub mod user_plane;
