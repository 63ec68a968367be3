//! Times as whole picoseconds in logs and plans: exact and easy to parse.

use lightloom_engine::Time;
use serde::{Deserialize, Deserializer, Serializer};

pub fn serialize<S: Serializer>(time: &Time, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_i64(time.0)
}

pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Time, D::Error> {
    i64::deserialize(d).map(Time)
}
