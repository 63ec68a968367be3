//! Electrical networks.
