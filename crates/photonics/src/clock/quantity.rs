//! Quantities of clocks that are fractions of the engine's whole units, such as a jitter of 0.5 ps
//! or a frequency error of 0.1 ppb.

use crate::quantity::quantity;

quantity!(
    /// A time that may be less than a picosecond [ps].
    Picoseconds,
    &[("ps", 1.0), ("fs", 1e-3), ("ns", 1e3), ("us", 1e6), ("ms", 1e9)],
    "a short time",
    "0.5 ps"
);
quantity!(
    /// A relative frequency [ppm]: 1 ppm is a microsecond per second.
    Ppm,
    &[("ppm", 1.0), ("ppb", 1e-3)],
    "a relative frequency",
    "100 ppm"
);
quantity!(
    /// A frequency [Hz].
    Hertz,
    &[("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6)],
    "a frequency",
    "5 kHz"
);
quantity!(
    /// A difference of temperature [K].
    Kelvin,
    &[("K", 1.0), ("mK", 1e-3)],
    "a difference of temperature",
    "4.5 K"
);
quantity!(
    /// A difference of wavelength [nm].
    Nanometres,
    &[("nm", 1.0), ("pm", 1e-3)],
    "a difference of wavelength",
    "0.402 nm"
);
quantity!(
    /// Change of a fibre's delay with its temperature [ps/km/K].
    ThermalDelay,
    &[("ps/km/K", 1.0), ("ps/(km K)", 1.0)],
    "a thermal coefficient of delay",
    "20 ps/km/K"
);
quantity!(
    /// Change of a fibre's delay with the wavelength [ps/nm/km].
    Dispersion,
    &[("ps/nm/km", 1.0), ("ps/(nm km)", 1.0)],
    "a dispersion",
    "17 ps/nm/km"
);
quantity!(
    /// Change of a frequency with the temperature [ppm/K].
    ThermalDrift,
    &[("ppm/K", 1.0), ("ppb/K", 1e-3)],
    "a thermal coefficient of frequency",
    "1 ppm/K"
);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_users_write() {
        assert_eq!("0.625 ps".parse(), Ok(Picoseconds(0.625)));
        assert_eq!("40fs".parse(), Ok(Picoseconds(0.04)));
        assert_eq!("-1 ns".parse(), Ok(Picoseconds(-1e3)));
        assert_eq!("1e-4 µs".parse(), Ok(Picoseconds(100.0)));
        assert_eq!("0.1 ppb".parse(), Ok(Ppm(1e-4)));
        assert_eq!("20 ps/km/K".parse(), Ok(ThermalDelay(20.0)));
    }

    #[test]
    fn refuses_by_name() {
        let of = |text: &str| text.parse::<Picoseconds>().unwrap_err();
        assert!(of("0.5").contains("`0.5` has no unit"), "{}", of("0.5"));
        assert!(of("1 s").contains("`s` is not a unit of a short time"));
        assert!(of("1.2.3 ps").contains("is not a short time"));
        assert!(of("1e308 ms").contains("too large"));
        assert!(of("nan ps").contains("is not"));
        let bare = serde_json::from_str::<Hertz>("5").unwrap_err().to_string();
        assert!(bare.contains("`5` has no unit"), "{bare}");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(value in -1e15f64..1e15) {
            prop_assert_eq!(Picoseconds(value).to_string().parse(), Ok(Picoseconds(value)));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            let _ = text.parse::<Ppm>();
        }
    }
}
