//! The switch of `lightloom plan`, in addition to the policy's own keys.

use lightloom_control::algorithms::multihop;
use lightloom_control::hardware::Hardware;
use lightloom_control::policies::Usual;
use lightloom_engine::{config, Rate, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{json, Map, Value};

/// The properties of the switch that a policy may use.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Switch {
    /// Rate of a circuit in each direction [b/s].
    rate: Option<Rate>,
    /// Number of parallel optical switches.
    planes: Option<u32>,
    /// Number of ports of a rack on each plane.
    ports: Option<u32>,
    /// Number of ports of each switch. Default: the number that the racks need.
    radix: Option<u32>,
    /// Time over which the demand is spread [s]; with the rate, it determines the part of a circuit
    /// that a pair needs.
    period: Option<Time>,
}

impl Switch {
    /// Reads the switch from its keys; absent ones have the policy's usual values.
    ///
    /// # Errors
    /// If the policy does not use a key, or if a value is invalid.
    pub fn read(table: &Value, usual: &Usual) -> Result<Switch, Refusal> {
        let known = Switch::usual(usual);
        let mut keys = table.as_object().into_iter().flatten();
        if let Some((key, value)) = keys.find(|(key, _)| !known.contains_key(*key)) {
            let limit = "this policy does not use it";
            return Err(Refusal::new(key, value, limit, "leave it out"));
        }
        let given = config::read::<Switch>(table, "")?;
        let several = usual.planes.is_some();
        Ok(Switch {
            rate: given.rate.or(usual.rate),
            planes: given.planes.or(usual.planes),
            ports: given.ports.or(several.then_some(1)),
            radix: given.radix,
            period: given.period.or(usual.over),
        })
    }

    /// The keys that a policy uses, with their usual values.
    fn usual(usual: &Usual) -> Map<String, Value> {
        let several = usual.planes.is_some();
        let keys = [
            ("rate", usual.rate.map(|rate| json!(rate))),
            ("planes", usual.planes.map(|planes| json!(planes))),
            ("ports", several.then(|| json!(1))),
            ("radix", several.then_some(Value::Null)),
            ("period", usual.over.map(|over| json!(over))),
        ];
        let known = keys
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)));
        known.collect()
    }

    /// The JSON Schema of the keys that a policy uses.
    pub fn schema(usual: &Usual) -> Value {
        let mut schema = schemars::schema_for!(Switch).to_value();
        let known = Switch::usual(usual);
        if let Some(Value::Object(keys)) = schema.get_mut("properties") {
            keys.retain(|key, _| known.contains_key(key));
            for (key, property) in keys.iter_mut() {
                let Some(default) = known.get(key).filter(|value| !value.is_null()) else {
                    continue;
                };
                let words = default
                    .as_str()
                    .map_or_else(|| default.to_string(), str::to_owned);
                let about = property["description"].as_str().unwrap_or_default();
                property["description"] = format!("{about} Default {words}.").into();
                property["default"] = default.clone();
            }
        }
        schema
    }

    /// The switch for a number of racks.
    ///
    /// # Errors
    /// If the switch cannot be built, or if no byte can be sent at its rate in the given time.
    pub fn hardware(&self, racks: usize) -> Result<Hardware, Refusal> {
        let rate = self.rate.unwrap_or(Rate::GBPS);
        let hardware = Hardware {
            racks: racks as u32,
            planes: self.planes.unwrap_or(1),
            ports: self.ports.unwrap_or(1),
            rate,
        };
        if rate.0 == 0 {
            return Err(Refusal::new(
                "rate",
                rate,
                "above 0",
                "give the rate of a circuit",
            ));
        }
        if rate.bytes_in(self.over()) == 0 {
            let limit = format!("a circuit of {rate} carries less than a byte in it");
            return Err(Refusal::new("period", self.over(), limit, "raise it"));
        }
        let plain = multihop::Hardware::new(hardware.racks, hardware.planes, 1);
        let built = multihop::Hardware {
            ports: hardware.ports,
            radix: self
                .radix
                .unwrap_or(hardware.racks.saturating_mul(hardware.ports)),
            ..plain
        };
        built.check()?;
        Ok(hardware)
    }

    /// The time over which the demand is spread.
    pub fn over(&self) -> Time {
        self.period.unwrap_or(Time::S)
    }

    /// Its keys with all defaults.
    pub fn table(&self) -> Map<String, Value> {
        let Value::Object(mut keys) = json!(self) else {
            unreachable!("a struct is a table");
        };
        keys.retain(|_, value| !value.is_null());
        keys
    }
}
