//! Derives the values of a design step by step; each step refuses impossible inputs.

use super::Design;
use crate::amplitude::Gain;
use crate::fec::{Fec, Protection};
use crate::guardband::{Basis, Guardband, Transitions};
use crate::laser::{bank, Distribution, LaserKind};
use crate::link::Budget;
use crate::quantity::{rounded, Decibel};
use lightloom_engine::{check_range, Refusal, Time};
use serde::Serialize;

/// The derived values of a design.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Derived {
    /// Ports of a grating: nodes that an uplink reaches.
    pub ports: u32,
    /// Wavelengths of a laser.
    pub wavelengths: u32,
    /// Tuning times between any two of them, as receivers observe them.
    pub tuning: Option<Distribution>,
    /// The guardband and its parts.
    pub guardband: Guardband,
    /// Length of a slot.
    pub slot: Time,
    /// Guardband ÷ slot.
    pub overhead: f64,
    /// Time until an input meets an output again.
    pub epoch: Time,
    /// Bits between two guardbands.
    pub cell_bits: u64,
    /// Whole data bytes of these bits, under the chosen protection.
    pub payload_bytes: u64,
    /// Sum of the crosstalk at the signal's wavelength; `None` if crosstalk is not counted.
    pub crosstalk: Option<Decibel>,
    /// The power penalty of the crosstalk.
    pub penalty: Decibel,
    /// The link budget.
    pub link: Budget,
    /// Tunable lasers of a source: those of a bank, or 1.
    pub lasers: i64,
    /// Loss of combining the lights of a bank; the laser's output power includes it.
    pub combining: Decibel,
    /// Source chips per node: uplinks ÷ uplinks per laser, rounded up.
    pub sources: u32,
    /// Gate chips per source.
    pub gate_chips: u32,
    /// Error of a cached phase after an epoch [ps]; `None` without phase caching.
    pub phase_error_ps: Option<f64>,
    /// Error of a cached gain after an epoch [dB]; `None` without amplitude caching.
    pub amplitude_error_db: Option<f64>,
    /// Bit error rate on the worst path, before correction.
    pub ber: f64,
    /// Bit error rate on the worst path, before correction, with the margin used up.
    pub ber_without_margin: f64,
    /// Bit error rate after correction, with the margin used up.
    pub error_rate: f64,
    /// Decoding delay after the cell itself.
    pub waits: Time,
    /// All ways to protect the cells, at the threshold of the receiver.
    pub protections: Vec<Protection>,
    /// Notes on omissions and assumptions of this design.
    pub notes: Vec<String>,
}

impl Design {
    /// Derives all values.
    ///
    /// # Errors
    /// If a part makes the design impossible; the refusal names its key below `devices`.
    pub fn derive(&self) -> Result<Derived, Refusal> {
        self.derive_in("devices", self.grating.ports)
    }

    /// The same if inputs meet an output again after `turn` slots, the number of ports in use. The
    /// keys of refusals begin with `at`.
    ///
    /// # Errors
    /// As [`Design::derive`].
    pub fn derive_in(&self, at: &str, turn: u32) -> Result<Derived, Refusal> {
        self.check(at)?;
        let wavelengths = self.reach_all_ports(at)?;
        let penalty = self.crosstalk_penalty(at)?;
        let powers = (self.laser.output, self.receiver.sensitivity);
        let loss = self.grating.worst_loss();
        let link = self.link.budget(at, powers, loss, penalty)?;
        let symbol = self.symbol();
        let (tuning, guardband) = self.guardband(symbol);
        let slot = self.slot_for(at, &guardband)?;
        let epoch = slot * i64::from(turn);
        let phase_error_ps = self.phase_error(at, symbol, epoch)?;
        let amplitude_error_db = self.amplitude.error_within(at, epoch)?;
        let cell_bits = self.bits_in(slot - guardband.total);
        let others = self.grating.interference(self.wavelengths);
        let ber = self.receiver.ber(self.modulation, link.received, &others);
        let threshold = self.receiver.threshold;
        let ways = Fec::ALL.map(|fec| fec.protect(cell_bits, epoch, threshold));
        let chosen = self.protected(at, &ways, cell_bits)?;
        let lasers = self.lasers(wavelengths, slot);
        let crosstalk = (others.in_band > 0.0).then(|| Decibel::of(others.in_band));
        Ok(Derived {
            ports: self.grating.ports,
            wavelengths,
            tuning,
            overhead: guardband.total.0 as f64 / slot.0 as f64,
            guardband,
            slot,
            epoch,
            cell_bits,
            payload_bytes: (chosen.data_bits / 8.0) as u64,
            crosstalk,
            penalty,
            sources: self.uplinks.div_ceil(link.share),
            link,
            lasers,
            combining: bank::combining(lasers),
            gate_chips: self.gate_chips(wavelengths, lasers),
            phase_error_ps,
            amplitude_error_db,
            ber,
            ber_without_margin: threshold,
            error_rate: chosen.post_ber,
            waits: chosen.waits,
            protections: ways.into(),
            notes: self.notes(),
        })
    }

    fn check(&self, at: &str) -> Result<(), Refusal> {
        self.grating.check(at, self.wavelengths)?;
        self.laser.check(at)?;
        self.receiver.check(at)?;
        self.link.check(at)?;
        self.cdr.check(at)?;
        self.amplitude.check(at)?;
        self.guard.check(at)?;
        check_range(format!("{at}.uplinks"), self.uplinks, 1..=65_535)?;
        check_range(format!("{at}.overhead"), self.overhead, 1e-6..=0.99)?;
        check_range(format!("{at}.error_rate"), self.error_rate, 1e-30..=0.1)?;
        let gbps = lightloom_engine::Rate::GBPS;
        let most = lightloom_engine::Rate(1_000 * gbps.0);
        check_range(format!("{at}.channel_rate"), self.channel_rate, gbps..=most)?;
        let longest = Time::S;
        let slot = self.slot.unwrap_or(Time::NS);
        check_range(format!("{at}.slot"), slot, Time(1)..=longest)
    }

    /// Length of a symbol, in whole picoseconds.
    pub fn symbol(&self) -> Time {
        let bits = u128::from(self.modulation.bits());
        let ps = (bits * Time::S.0 as u128).div_ceil(u128::from(self.channel_rate.0));
        Time(ps as i64)
    }

    fn bits_in(&self, span: Time) -> u64 {
        let bits = u128::from(self.channel_rate.0) * span.0.max(0) as u128;
        (bits / Time::S.0 as u128) as u64
    }

    fn reach_all_ports(&self, at: &str) -> Result<u32, Refusal> {
        let ports = self.grating.ports;
        let wavelengths = self.laser.wavelengths(ports);
        if wavelengths >= ports {
            return Ok(wavelengths);
        }
        let limit =
            format!("the laser has {wavelengths} wavelengths, one for each port it reaches");
        let remedy = format!("take {wavelengths} ports at most, or another {at}.laser");
        Err(Refusal::new(
            format!("{at}.grating.ports"),
            ports,
            limit,
            remedy,
        ))
    }

    fn crosstalk_penalty(&self, at: &str) -> Result<Decibel, Refusal> {
        let others = self.grating.interference(self.wavelengths);
        let penalty = self.receiver.penalty(self.modulation, &others);
        penalty.ok_or_else(|| self.refuse_crosstalk(at, others.in_band))
    }

    fn refuse_crosstalk(&self, at: &str, in_band: f64) -> Refusal {
        let ports = self.grating.ports;
        let floor = {
            let others = self.grating.interference(self.wavelengths);
            self.receiver.floor(self.modulation, &others)
        };
        let bounded = |ports: &u32| {
            let fewer = crate::Grating {
                ports: *ports,
                ..self.grating
            };
            let others = fewer.interference(self.wavelengths);
            self.receiver.penalty(self.modulation, &others).is_some()
        };
        let most = (1..ports).take_while(bounded).last().unwrap_or(1);
        let name = self.modulation.name();
        let adjacent = self.grating.adjacent.unwrap_or_default();
        let limit = format!(
            "at {adjacent} adjacent crosstalk, {} dB in total, the {name} penalty is unbounded: \
             the bit error rate is {floor:.1e} at any power, but at most {:.1e} is allowed",
            rounded(Decibel::of(in_band).0, 2),
            self.receiver.threshold
        );
        let odd = if ports.is_multiple_of(2) {
            " and an odd number of ports"
        } else {
            ""
        };
        let remedy = format!(
            "take at most {most}, a grating that leaks less, or {at}.wavelengths = \
             \"out-of-band\"{odd}"
        );
        Refusal::new(format!("{at}.grating.ports"), ports, limit, remedy)
    }

    fn guardband(&self, symbol: Time) -> (Option<Distribution>, Guardband) {
        let tuning = self.laser.tuning(self.grating.ports);
        let distribution = tuning.distribution();
        let all = distribution
            .as_ref()
            .map_or(Time::ZERO, |found| found.worst);
        let laser = match self.guard.transitions {
            Transitions::All => all,
            Transitions::Schedule => tuning.in_turn(self.grating.ports),
        };
        let kind = self.laser.kind;
        let fitted = matches!(kind, LaserKind::Dsdbr | LaserKind::DsdbrUndamped);
        let given = self.laser.drive.is_some() || self.laser.gates.is_some();
        let basis = match (given, fitted) {
            (true, _) => Basis::Given,
            (false, true) => Basis::Fitted,
            (false, false) => Basis::Paper,
        };
        let of_lock = if self.cdr.lock.is_some() {
            Basis::Given
        } else {
            Basis::Paper
        };
        let parts = [
            (laser, basis),
            (self.cdr.lock(), of_lock),
            self.gain(symbol),
        ];
        (distribution, self.guard.with(parts, symbol))
    }

    fn gain(&self, symbol: Time) -> (Time, Basis) {
        let basis = match self.amplitude.kind {
            Gain::Caching => Basis::Fitted,
            Gain::Control => Basis::Assumed,
        };
        (self.amplitude.settles(&self.grating, symbol), basis)
    }

    fn slot_for(&self, at: &str, guardband: &Guardband) -> Result<Time, Refusal> {
        let least = guardband.total;
        let Some(slot) = self.slot else {
            let slot = (least.0 as f64 / self.overhead).round();
            return Ok(Time(slot as i64).max(least + guardband.symbol));
        };
        if slot > least {
            return Ok(slot);
        }
        let longest = guardband.longest();
        let limit = format!(
            "not longer than the guardband of {least}, most of which is {at}.{}: {} for {}",
            longest.key, longest.time, longest.name
        );
        let remedy = format!("raise it, or change {at}.{}", longest.key);
        Err(Refusal::new(format!("{at}.slot"), slot, limit, remedy))
    }

    fn phase_error(&self, at: &str, symbol: Time, epoch: Time) -> Result<Option<f64>, Refusal> {
        if self.cdr.kind != crate::cdr::Recovery::PhaseCaching {
            return Ok(None);
        }
        let error = self.cdr.error(epoch);
        let allowed = self.cdr.tolerance * symbol.0 as f64;
        if error <= allowed {
            return Ok(Some(error));
        }
        let limit = format!(
            "a cached phase is {} ps wrong after an epoch of {epoch}, but at most {} ps are \
             allowed",
            rounded(error, 2),
            rounded(allowed, 2)
        );
        let remedy =
            format!("shorten the epoch ({at}.slot, {at}.grating.ports), or steady the clocks");
        Err(Refusal::new(
            format!("{at}.cdr.drift"),
            self.cdr.drift,
            limit,
            remedy,
        ))
    }

    fn protected<'a>(
        &self,
        at: &str,
        ways: &'a [Protection],
        cell: u64,
    ) -> Result<&'a Protection, Refusal> {
        let chosen = ways.iter().find(|way| way.fec == self.fec);
        let chosen = chosen.expect("all ways were tried");
        let name = serde_json::to_value(self.fec).expect("a word");
        if !chosen.fits {
            let word = crate::fec::Code::KP4;
            let limit = match self.fec {
                Fec::Kp4 => {
                    let bits = word.codeword_bits();
                    format!("a codeword of {bits} bits does not fit into a cell of {cell} bits")
                }
                _ => format!(
                    "a cell of {cell} bits has no room for data beside parity of {} bits",
                    (word.symbols - word.data) * word.bits
                ),
            };
            let remedy = format!(
                "lengthen {at}.slot, or take \"shortened\" (whole cells) or \"cross-cell\" (waits \
                 for epochs)"
            );
            return Err(Refusal::new(format!("{at}.fec"), name, limit, remedy));
        }
        if chosen.post_ber > self.error_rate {
            let limit = format!(
                "the bit error rate after it is {:.1e} at {}, but at most {:.1e} is allowed",
                chosen.post_ber, self.receiver.sensitivity, self.error_rate
            );
            let remedy = format!("correct more, or raise {at}.error_rate");
            return Err(Refusal::new(format!("{at}.fec"), name, limit, remedy));
        }
        Ok(chosen)
    }

    fn lasers(&self, wavelengths: u32, slot: Time) -> i64 {
        if self.laser.kind != LaserKind::TunableBank {
            return 1;
        }
        let tuning = self.laser.source_tuning(wavelengths).distribution();
        let worst = tuning.map_or(Time::ZERO, |found| found.worst);
        bank::lasers(worst, slot) + i64::from(self.laser.spares.unwrap_or(1))
    }

    /// The number of gate chips: one gate for each light to select from.
    fn gate_chips(&self, wavelengths: u32, lasers: i64) -> u32 {
        let gates = self.laser.gates();
        match self.laser.kind {
            LaserKind::TunableBank => gates.chips(lasers as u32),
            kind if kind.gated() => gates.chips(wavelengths),
            _ => 0,
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.grating.adjacent.is_none() {
            notes.push("crosstalk of the grating is not counted: none was given".to_owned());
        }
        if self.grating.adjacent.is_some() && self.grating.non_adjacent.is_none() {
            notes.push("ports farther away leak 10 dB less than neighbours: assumed".to_owned());
        }
        let cached = self.guard.amplitude.is_none() && self.amplitude.kind == Gain::Caching;
        if cached || self.guard.preamble.is_none() {
            let text = "amplitude and preamble: only their sum follows from the paper";
            notes.push(text.to_owned());
        }
        if self.guard.amplitude.is_none() && !cached {
            let text = "gain control: its time constant and tolerance are assumed";
            notes.push(text.to_owned());
        }
        if self.wavelengths == crate::Wavelengths::OutOfBand {
            let text = "transceivers that share a laser must be at equal ports of their gratings";
            notes.push(text.to_owned());
        }
        notes
    }
}
