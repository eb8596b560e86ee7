//! Links unoptimised programs, including `testkit`, to a fixed address.
//!
//! A command in the sandbox starts the program three times. Without a fixed address, half of each start was spent on
//! 380,000 relocations.

fn main() {
    println!("cargo:rerun-if-changed=Cargo.toml");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|is| is == value);
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ARCH", "x86_64") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
