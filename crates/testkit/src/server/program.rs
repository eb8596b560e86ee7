//! Finds the programs that are tested. The programs are in the target directory that contains the test's executable.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// Environment variable that tells a test that all tested programs have already been built. Without it, the test builds
/// the package of the program. This compiles the dependencies again, with fewer features.
const BUILT: &str = "HOLDSHORT_PROGRAMS_BUILT";

/// Returns the path of the program `holdshort`. If the program is missing or older than the test, builds it first.
pub fn real() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| find("holdshort", &["-p", "holdshort"])).clone()
}

/// Returns the path of the program `holdshort-aborting`, which crashes at the point that environment variables set.
pub fn aborting() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| find_of_testkit("holdshort-aborting")).clone()
}

/// Returns the path of the program `holdshort-other-version`, a node with the schema version that an environment
/// variable sets.
pub fn other_version() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| find_of_testkit("holdshort-other-version")).clone()
}

fn find_of_testkit(name: &str) -> PathBuf {
    find(name, &["-p", "holdshort-testkit", "--bin", name])
}

fn find(name: &str, build: &[&str]) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    // The executable's path is `target/PROFILE/deps/it-0123456789abcdef`.
    let profile = test.ancestors().nth(2).expect("a test lies in a target folder");
    let program = profile.join(name);
    let is_built = std::env::var_os(BUILT).is_some() && program.exists();
    if !is_built && written(&program) < written(&test) {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.arg("build").arg("--quiet").args(build).current_dir(env!("CARGO_MANIFEST_DIR"));
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        let status = cargo.status().expect("cargo runs");
        assert!(status.success(), "`{name}` cannot be built");
    }
    program
}

fn written(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|metadata| metadata.modified()).ok()
}
