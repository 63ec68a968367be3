#![no_main]

use lightloom_fuzz::trace;
use lightloom_workload::trace::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| trace(Format::Csv, bytes));
