#![no_main]

use lightloom_fuzz::arrivals;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| arrivals(bytes));
