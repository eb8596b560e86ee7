//! Links programs without optimisation to a fixed address, those of `testkit` included.
//!
//! A command in the sandbox starts the program three times. Half of each start was 380,000 relocations.

fn main() {
    println!("cargo:rerun-if-changed=Cargo.toml");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|is| is == value);
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ARCH", "x86_64") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
