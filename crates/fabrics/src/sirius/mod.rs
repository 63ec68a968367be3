//! The request/grant fabric of Ballani et al.
