//! Number of random cases for each property of whole simulations.

use proptest::test_runner::Config;

/// All cases in `make test-long`, which sets `LIGHTLOOM_LONG`; a quarter of them in `make test`.
/// `PROPTEST_CASES` sets a larger number.
pub fn costly(cases: u32) -> Config {
    let set = |name| std::env::var_os(name).is_some();
    match (set("PROPTEST_CASES"), set("LIGHTLOOM_LONG")) {
        (true, _) => Config::default(),
        (false, true) => Config::with_cases(cases),
        (false, false) => Config::with_cases(cases.div_ceil(4)),
    }
}
