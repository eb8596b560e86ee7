//! Committing a trial of a shell program changes a tree exactly as the program would, and an undo restores the tree.
//! Programs and trees are generated from seeds.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;
use std::time::SystemTime;

use holdshort_core::changeset::Changeset;
use holdshort_tools::{Committed, Layers};

use crate::bench::Bench;
use crate::tree::{Tree, differences, tree};
use crate::trial::complete_trial;

/// File names in the notation of `printf`. Some of them differ only in case, are not UTF-8, or contain characters that
/// break lists and lines.
const NAMES: [&str; 9] =
    ["a", "A", "b", "dir", "sp ace", "n\\377", "back\\\\slash", "new\\nline", "\\303\\274"];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) >> 33).unwrap() % bound
    }

    /// Returns a random mode for a file or a folder. Only root gets modes that deny access to the owner, because only
    /// root can read such a folder.
    fn mode(&mut self) -> &'static str {
        let modes = ["755", "700", "711", "644", "600", "555", "444", "1755"];
        let count = if rustix::process::geteuid().is_root() { modes.len() } else { 3 };
        modes[self.below(count)]
    }

    fn path(&mut self) -> String {
        let depth = 1 + self.below(3);
        let names: Vec<_> = (0..depth).map(|_| format!("/\"$n{}\"", self.below(NAMES.len()))).collect();
        format!(".{}", names.concat())
    }
}

fn prelude() -> String {
    let names = NAMES.iter().enumerate();
    let names: Vec<_> = names.map(|(n, name)| format!("n{n}=$(printf '{name}'); ")).collect();
    names.concat() + "exec 2>/dev/null; "
}

/// Returns shell commands that create random files, folders and links.
fn tree_of(random: &mut Random) -> String {
    let mut program = prelude();
    for n in 0..12 + random.below(20) {
        let (path, other) = (random.path(), random.path());
        let line = match random.below(6) {
            0 => format!("ln -s {other} {path}; "),
            1 => format!("mkdir -p {path}; chmod {} {path}; ", random.mode()),
            2 => format!("mkdir -p $(dirname {path})x; truncate -s 3000000 {path}; "),
            _ => format!("mkdir -p \"${{p%/*}}\"; echo {n} > {path}; chmod {} {path}; ", random.mode())
                .replace("${p%/*}", &format!("$(p={path}; echo \"${{p%/*}}\")")),
        };
        program.push_str(&line);
    }
    program + "true"
}

/// Returns a random program that changes a generated tree of files. The program either moves entries or makes hard
/// links, because moving a folder copies it and so separates hard links.
fn program_of(random: &mut Random) -> String {
    let mut program = prelude();
    let links = random.below(3) == 0;
    for n in 0..3 + random.below(12) {
        let (path, other) = (random.path(), random.path());
        let mode = random.mode();
        let line = match random.below(16) {
            0 => format!("echo new{n} > {path}; "),
            1 => format!("echo more{n} >> {path}; "),
            2 => format!("mkdir -p {path}; "),
            3 => format!("rm -rf {path}; "),
            4 => format!("rm -rf {path}; mkdir {path}; echo in{n} > {path}/b; "),
            5 => format!("rm -rf {path}; mkdir -p {path}/dir; "),
            6 if links => format!("ln {path} {other}; "),
            6 | 7 if !links => format!("mv {path} {other}; "),
            // Never copies a folder into itself, because the result would depend on the order of its entries.
            8 => format!("cp -r {path} ./copy{n}; "),
            9 => format!("rm -f {path}; ln -s {other} {path}; "),
            10 => format!("chmod {mode} {path}; "),
            11 => format!("truncate -s {} {path}; ", 1 + random.below(4_000_000)),
            12 => format!("find . -type f -name b -delete; touch {path}; "),
            13 => "find . -type f -name a -exec sed -i s/e/E/ {} +; ".to_owned(),
            14 => format!("dd if=/dev/zero of={path} bs=1000 seek=2000 count=1 conv=notrunc; "),
            _ => format!("mkfifo {path}.fifo; rm -rf {other}; "),
        };
        program.push_str(&line);
    }
    program + "true"
}

fn run(line: &str, bench: &Bench) {
    let ended = Command::new("/bin/sh")
        .args(["-c", line])
        .env("LC_ALL", "C.UTF-8")
        .current_dir(bench.at(""))
        .status();
    assert!(ended.unwrap().success(), "{line}");
}

/// Returns the tree of files without special files, and true if it contained special files.
fn without_special(tree: Tree) -> (Tree, bool) {
    let count = tree.len();
    let kept: Tree = tree.into_iter().filter(|(_, stands)| stands != "special").collect();
    let has_special = kept.len() < count;
    (kept, has_special)
}

pub(crate) async fn play(seed: u64, layers: Layers) {
    let mut random = Random(seed);
    let (made, program) = (tree_of(&mut random), program_of(&mut random));
    let why = format!("seed {seed} over {layers:?}: {}", program.strip_prefix(&prelude()).unwrap());
    let plain = Bench::new();
    run(&made, &plain);
    let tried = Bench::with(|settings| settings.layers = layers);
    run(&made, &tried);
    let before = tree(&tried.at(""));

    run(&program, &plain);
    let (expected, has_special) = without_special(tree(&plain.at("")));
    let first = complete_trial(&tried, &tried.tools, &program).await;
    assert_eq!(first.trial.over, layers, "{why}");
    let told = |code: &str| first.trial.codes.iter().any(|told| told == code);
    assert_eq!(told("special_file"), has_special, "{why}");
    assert_eq!(first.commit(&tried.tools), Committed::Done, "{why}");
    assert_eq!(differences(&expected, &tree(&tried.at(""))), [], "{why}");
    assert_eq!(first.undo(&tried.tools), Committed::Done, "{why}");
    assert_eq!(differences(&before, &tree(&tried.at(""))), [], "{why}");

    // A second program after the first one behaves in the same way, and both are undone together.
    assert_eq!(first.commit(&tried.tools), Committed::Done, "{why}");
    let program = program_of(&mut random);
    let why = format!("{why}; then {}", program.strip_prefix(&prelude()).unwrap());
    let second = complete_trial(&tried, &tried.tools, &program).await;
    assert_eq!(second.commit(&tried.tools), Committed::Done, "{why}");
    let both = Changeset::undoing(&[&second.trial.changeset, &first.trial.changeset]);
    assert_eq!(both.mixed, [""; 0], "{why}");
    let undoable = tried.tools.undoable(&both.changeset, BTreeMap::new()).unwrap();
    assert_eq!((&undoable.changeset, undoable.left.len()), (&both.changeset, 0), "{why}");
    let body = |digest| first.body(digest).or_else(|_| second.body(digest));
    assert_eq!(tried.tools.commit(&both.changeset, body, false), Committed::Done, "{why}");
    assert_eq!(differences(&before, &tree(&tried.at(""))), [], "{why}");
}

#[tokio::test]
async fn a_committed_trial_is_the_program() {
    for seed in 0..30 {
        play(seed, Layers::Overlay).await;
    }
    for seed in 30..40 {
        play(seed, Layers::Copy).await;
    }
}

/// Tests trials with the seeds of `HOLDSHORT_TRIALS` random programs, beginning with the seed `HOLDSHORT_SEED`. Without
/// these variables, tests 200 random seeds.
#[tokio::test]
#[ignore = "a campaign: cargo xtask verify --long"]
async fn campaign_of_fresh_seeds() {
    let count = std::env::var("HOLDSHORT_TRIALS").map_or(200, |count| count.parse().unwrap());
    let begun = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() << 20;
    let first = std::env::var("HOLDSHORT_SEED").map_or(begun, |seed| seed.parse().unwrap());
    for seed in first..first + count {
        play(seed, Layers::Overlay).await;
    }
    eprintln!("{count} programs from seed {first}");
}

#[tokio::test]
async fn a_name_that_is_not_utf_8_is_kept() {
    let bench = Bench::new();
    run(&format!("{}echo x > ./\"$n5\"", prelude()), &bench);
    let kept = complete_trial(&bench, &bench.tools, "rm ./*").await;
    assert_eq!(kept.marked_paths(), ["-n\\xff"]);
    assert_eq!(kept.commit(&bench.tools), Committed::Done);
    assert_eq!(kept.undo(&bench.tools), Committed::Done);
    let names =
        std::fs::read_dir(bench.at("")).unwrap().map(|entry| entry.unwrap().file_name().as_bytes().to_vec());
    assert_eq!(names.collect::<Vec<_>>(), [b"n\xff"]);
}
