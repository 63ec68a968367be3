//! Compiles the program of the kernel plane with clang. Without clang the crate still builds, and
//! the kernel plane reports what is missing.

use std::env;
use std::path::PathBuf;
use std::process::Command;

const SOURCE: &str = "bpf/plane.bpf.c";

fn main() {
    println!("cargo:rerun-if-changed={SOURCE}");
    println!("cargo:rerun-if-env-changed=CLANG");
    println!("cargo:rustc-check-cfg=cfg(bpf)");
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let object = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("plane.o");
    let compiled = Command::new(clang)
        .args([
            // The object must not contain a path of the build machine.
            "-fdebug-compilation-dir=.",
            "-target",
            "bpf",
            "-O2",
            "-g",
            "-Wall",
            "-Werror",
            "-c",
            SOURCE,
            "-o",
        ])
        .arg(&object)
        .status();
    if compiled.is_ok_and(|status| status.success()) {
        println!("cargo:rustc-cfg=bpf");
    } else if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:warning=no clang for BPF: the testbed's kernel plane is left out");
        // This file does not exist, so that the next build searches for clang again.
        println!("cargo:rerun-if-changed=bpf/no-clang");
    }
}
