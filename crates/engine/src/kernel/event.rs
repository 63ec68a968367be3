//! The event kernel: packet fabrics on typed events.
