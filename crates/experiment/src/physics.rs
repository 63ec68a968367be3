//! `[physics]`: what holds for every network of the experiment, stated once.

use lightloom_engine::{check_range, Bytes, Length, Refusal, Time};
use lightloom_fabrics::Physics;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Physical properties that all fabrics of the experiment share. A fabric's own keys take
/// precedence, then its preset. If a key is omitted here, each fabric has its own default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PhysicsTable {
    /// A named set of values, which the other keys override.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<PhysicsPreset>,
    /// Propagation delay from any rack to any other [time], divided equally among the links of the
    /// longest path; links of servers have none. Realistic: 500 ns, which is 100 m at 5 ns per
    /// metre, the value in the simulations of Opera's authors (NSDI 2020); Sirius gives up to 2.5
    /// us (500 m) for a large data centre (SIGCOMM 2020, §4.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagation: Option<Time>,
    /// The propagation delay as a length of fibre, at 5 ns per metre [length].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fibre: Option<Length>,
    /// Forwarding latency of every electrical switch on a packet's path, including the racks'
    /// switches [time]. Realistic: 600 ns, from the data sheet of a rack switch (Arista 7050SX: 550
    /// to 650 ns, cut-through). In fabrics that simulate packets, a switch also receives the whole
    /// packet before it forwards it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch_latency: Option<Time>,
    /// Latency that forward error correction adds to every link between racks or switches [time].
    /// Realistic: 102.4 ns, in which the 5,440 bits of a codeword of RS(544,514) arrive at 53.125
    /// Gb/s, a lane of 50 Gb/s (IEEE 802.3cd); decoding cannot begin earlier. The time of the
    /// decoding itself is not included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fec_latency: Option<Time>,
    /// Header bytes of every packet, frame or cell [B]. Realistic: 18 B, the addresses, type and
    /// check sequence of an Ethernet frame (IEEE 802.3, clause 3). Network and transport headers
    /// count as payload: add 40 B for IPv4 and TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Bytes>,
    /// Gap between packets on a link [B]; not for Sirius and LIONS, whose guard has this function.
    /// Realistic: 20 B, the preamble (8 B) and the interpacket gap (12 B) of Ethernet (IEEE 802.3,
    /// clauses 3 and 4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Bytes>,
}

/// Named sets of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhysicsPreset {
    /// No values: each fabric has the defaults of its paper.
    Ideal,
    /// 100 m of fibre, switches with 600 ns, forward error correction, and Ethernet frames.
    Realistic,
}

/// The largest time, up to which fabrics model propagation.
const TIME_MAX: Time = Time::MS;
/// The largest header or gap of a frame.
const BYTES_MAX: Bytes = Bytes(65_535);

impl PhysicsTable {
    /// Completes the table with its preset.
    ///
    /// # Errors
    /// If a value is out of range, or if two keys state the same quantity.
    pub(crate) fn resolve(&self) -> Result<PhysicsTable, Refusal> {
        if let (Some(fibre), Some(propagation)) = (self.fibre, self.propagation) {
            let limit = format!("physics.propagation = {propagation} is also given");
            let remedy = "remove one of the two";
            return Err(Refusal::new("physics.fibre", fibre, limit, remedy));
        }
        self.refuse_values()?;
        let terms = self.preset.map_or(Physics::default(), PhysicsPreset::terms);
        let far = self.fibre.map(Length::delay).or(self.propagation);
        Ok(PhysicsTable {
            preset: self.preset,
            propagation: far.or(terms.propagation),
            fibre: None,
            switch_latency: self.switch_latency.or(terms.switch_latency),
            fec_latency: self.fec_latency.or(terms.fec_latency),
            header: self.header.or(terms.header),
            gap: self.gap.or(terms.gap),
        })
    }

    fn refuse_values(&self) -> Result<(), Refusal> {
        if let Some(fibre) = self.fibre {
            let most = Length::of_delay(TIME_MAX);
            check_range("physics.fibre", fibre, Length(0)..=most)?;
        }
        for (key, time) in [
            ("propagation", self.propagation),
            ("switch_latency", self.switch_latency),
            ("fec_latency", self.fec_latency),
        ] {
            let range = Time::ZERO..=TIME_MAX;
            check_range(format!("physics.{key}"), time.unwrap_or_default(), range)?;
        }
        for (key, bytes) in [("header", self.header), ("gap", self.gap)] {
            let range = Bytes(0)..=BYTES_MAX;
            check_range(format!("physics.{key}"), bytes.unwrap_or_default(), range)?;
        }
        Ok(())
    }

    /// The terms of a resolved table.
    pub(crate) fn terms(&self) -> Physics {
        Physics {
            propagation: self.propagation,
            switch_latency: self.switch_latency,
            fec_latency: self.fec_latency,
            header: self.header,
            gap: self.gap,
            oversubscription: None,
            discipline: None,
            nic: None,
        }
    }
}

impl PhysicsPreset {
    fn terms(self) -> Physics {
        match self {
            PhysicsPreset::Ideal => Physics::default(),
            PhysicsPreset::Realistic => Physics {
                propagation: Some(Time::NS * 500),
                switch_latency: Some(Time::NS * 600),
                fec_latency: Some(Time(102_400)),
                header: Some(Bytes(18)),
                gap: Some(Bytes(20)),
                oversubscription: None,
                discipline: None,
                nic: None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::config;
    use serde_json::{json, Value};

    fn resolve(table: Value) -> Result<Value, String> {
        config::read::<PhysicsTable>(&table, "physics")
            .and_then(|table| table.resolve())
            .map(|table| serde_json::to_value(table).expect("plain data"))
            .map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn keys_go_before_the_preset_and_a_completed_table_stays_as_it_is() {
        let all = json!({
            "preset": "realistic", "propagation": "500 ns", "switch_latency": "600 ns",
            "fec_latency": "102.4 ns", "header": "18 B", "gap": "20 B",
        });
        assert_eq!(resolve(json!({"preset": "realistic"})), Ok(all.clone()));
        assert_eq!(resolve(all.clone()), Ok(all.clone()));
        let mut longer = all;
        longer["propagation"] = json!("2.5 us");
        let given = json!({"preset": "realistic", "fibre": "500 m"});
        assert_eq!(resolve(given), Ok(longer));
        assert_eq!(resolve(json!({})), Ok(json!({})));
        let ideal = json!({"preset": "ideal"});
        assert_eq!(resolve(ideal.clone()), Ok(ideal));
    }

    #[test]
    fn a_codeword_takes_that_long() {
        let nanoseconds = 544.0 * 10.0 / 53.125;
        let realistic = PhysicsPreset::Realistic.terms();
        assert_eq!(
            realistic.fec_latency,
            Some(Time((nanoseconds * 1e3) as i64))
        );
        let fibre = Length(100 * Length::M.0).delay();
        assert_eq!(realistic.propagation, Some(fibre));
    }

    #[test]
    fn refusals_name_the_key_and_the_remedy() {
        for (table, expect) in [
            (
                json!({"preset": "real"}),
                "physics.preset = \"real\": must be one of \"ideal\", \"realistic\"",
            ),
            (
                json!({"propagation": "-1 ns"}),
                "physics.propagation = \"-1 ns\": ",
            ),
            (json!({"gap": 20}), "physics.gap = 20: `20` has no unit"),
            (
                json!({"propagation": "2 ms"}),
                "physics.propagation = 2 ms: must be from 0 ps to 1 ms; lower it",
            ),
            (
                json!({"fibre": "201 km"}),
                "physics.fibre = 201 km: must be from 0 mm to 200 km; lower it",
            ),
            (
                json!({"header": "66 KB"}),
                "physics.header = 66 KB: must be from 0 B to 65.535 KB; lower it",
            ),
            (
                json!({"fibre": "100 m", "propagation": "500 ns"}),
                "physics.fibre = 100 m: physics.propagation = 500 ns is also given; remove one",
            ),
            (
                json!({"latency": "1 us"}),
                "physics.latency = \"1 us\": no such key",
            ),
        ] {
            let said = resolve(table).unwrap_err();
            assert!(said.starts_with(expect), "{said}");
        }
    }
}
