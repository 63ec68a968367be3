#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lightloom_fuzz::experiment(bytes));
