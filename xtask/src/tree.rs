//! Tests of the repository: first lines of files, sizes, links in documents, texts of the app.

use std::path::{Path, PathBuf};

use crate::run::root;

/// File extensions of source files, with the text with which the first line of such a file must begin.
const SOURCES: [(&str, &str); 4] = [(".rs", "//! "), (".ts", "// "), (".js", "// "), (".svelte", "<!-- ")];

/// Generated source files that are not committed.
const GENERATED: [&str; 1] = ["ui/src/api/schema.d.ts"];

fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    const SKIPPED: [&str; 6] = ["target", ".git", "node_modules", "dist", "sample", "__pycache__"];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !SKIPPED.contains(&name.as_str()) {
            files(&path, ending, found);
        } else if path.is_file() && name.ends_with(ending) {
            found.push(path);
        }
    }
}

pub(crate) fn all(ending: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    files(&root(), ending, &mut found);
    found.sort();
    found
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect()
}

fn sources(ending: &str) -> impl Iterator<Item = (String, String)> {
    all(ending).into_iter().filter(|(name, _)| !GENERATED.contains(&&**name))
}

#[test]
fn every_source_file_says_what_it_is_for() {
    for (ending, start) in SOURCES {
        let silent: Vec<String> =
            sources(ending).filter(|(_, text)| !text.starts_with(start)).map(|(name, _)| name).collect();
        assert!(silent.is_empty(), "the first line must begin with `{start}` in: {silent:#?}");
    }
}

/// Tests that every text of the app is used. The compiler checks that every used key exists.
#[test]
fn every_text_of_the_app_is_read_somewhere() {
    const TEXTS: &str = "ui/src/texts/en.ts";
    let code: String = [".ts", ".svelte"]
        .into_iter()
        .flat_map(sources)
        .filter(|(name, _)| name.starts_with("ui/src/") && name != TEXTS)
        .map(|(_, text)| text)
        .collect();
    let texts = std::fs::read_to_string(root().join(TEXTS)).unwrap();
    let keys = texts.lines().filter_map(|line| line.trim_start().strip_prefix('"')?.split_once("\":"));
    // t("inbox.title"), count("inbox.waiting", 2), word("kind", interrupt.kind), t(`app.theme.${theme}`).
    let is_read = |key: &str| {
        let counted = key.strip_suffix(".one").or(key.strip_suffix(".other")).unwrap_or(key);
        let group = key.rsplit_once('.').map_or(key, |(group, _)| group);
        [format!("\"{counted}\""), format!("word(\"{group}\""), format!("`{group}.${{")]
            .iter()
            .any(|way| code.contains(way))
    };
    let unread: Vec<&str> = keys.map(|(key, _)| key).filter(|key| !is_read(key)).collect();
    assert!(unread.is_empty(), "{TEXTS} has texts that the app does not use: {unread:#?}");
}

#[test]
fn links_of_the_documents_lead_somewhere() {
    let mut dead = Vec::new();
    for (name, text) in all(".md") {
        let folder = root().join(&name).parent().unwrap().to_path_buf();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !folder.join(target).exists() {
                dead.push(format!("{name}: {link}"));
            }
        }
    }
    assert!(dead.is_empty(), "dead links: {dead:#?}");
}

/// Tests that `ARCHITECTURE.md` and `CONTRIBUTING.md` name only existing files.
#[test]
fn the_map_names_files_that_exist() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
        + &std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let mut missing = Vec::new();
    for quoted in text.split('`').skip(1).step_by(2) {
        let looks_like_a_path =
            ["crates/", "packs/", "docs/", "ui/"].iter().any(|folder| quoted.starts_with(folder));
        if looks_like_a_path && !quoted.contains([' ', '*']) && !root().join(quoted).exists() {
            missing.push(quoted.to_owned());
        }
    }
    assert!(missing.is_empty(), "named, but missing: {missing:#?}");
}

/// Tests that each invariant and each security measure in the documents names only existing tests.
#[test]
fn what_is_promised_names_tests_that_exist() {
    let page = |name: &str| std::fs::read_to_string(root().join(name)).unwrap();
    let text = page("ARCHITECTURE.md") + &page("docs/security.md");
    let sources: String =
        all(".rs").into_iter().filter(|(name, _)| name.contains("/tests/")).map(|(_, t)| t).collect();
    let missing: Vec<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter_map(|quoted| quoted.split_once("::").filter(|_| !quoted.contains([' ', '(', '/'])))
        .filter(|(module, _)| module.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .map(|(_, test)| test)
        .filter(|test| !sources.contains(&format!("fn {test}(")))
        .collect();
    assert!(missing.is_empty(), "named, but missing: {missing:#?}");
}

/// Tests that the name of each ignored test begins with the word by which `cargo xtask verify --long` selects it.
#[test]
fn each_campaign_has_its_name() {
    const REASON: &str = "#[ignore = \"a campaign: cargo xtask verify --long\"]";
    let mut campaigns = 0;
    for (path, text) in all(".rs").into_iter().filter(|(path, _)| path.contains("/tests/")) {
        for after in text.split(REASON).skip(1) {
            campaigns += 1;
            let name = after.split("fn ").nth(1).and_then(|rest| rest.split('(').next()).unwrap_or_default();
            assert!(name.starts_with("campaign"), "{path}: {name}");
        }
    }
    assert!(campaigns > 0, "no campaign was found");
}

/// Tests that exactly the libraries without tests disable their test harness, so that no needless harness is built.
#[test]
fn harnesses_are_off_where_there_are_no_tests() {
    const OFF: &str = "[lib]\ntest = false\ndoctest = false\n";
    let sources = all(".rs");
    let has = |place: &str, marks: &[&str]| {
        sources
            .iter()
            .any(|(name, text)| name.starts_with(place) && marks.iter().any(|mark| text.contains(mark)))
    };
    let mut wrong = Vec::new();
    for (name, manifest) in all("Cargo.toml") {
        let is_ours = |name: &&str| name.starts_with("crates/") || name.starts_with("packs/");
        let Some(package) = name.strip_suffix("Cargo.toml").filter(is_ours) else { continue };
        let is_off = manifest.contains(OFF);
        if is_off == has(&format!("{package}src/"), &["#[cfg(test)]", "#[test]"]) {
            wrong.push(format!("{name}: its library is tested in src/, or says {OFF:?}"));
        }
        if is_off && has(&format!("{package}src/"), &["/// ```", "//! ```"]) {
            wrong.push(format!("{name}: examples in src/ would not run"));
        }
        for program in ["src/main.rs", "src/bin/"] {
            if has(&format!("{package}{program}"), &["#[cfg(test)]", "#[test]"]) {
                wrong.push(format!("{package}{program}: the harnesses of programs are off"));
            }
        }
        if manifest.matches("[[bin]]").count() != manifest.matches(".rs\"\ntest = false\n").count() {
            wrong.push(format!("{name}: a program is not `test = false`"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Tests that no crate of the product depends on a pack, except the `holdshort` program and the testkit.
#[test]
fn nothing_but_the_program_knows_a_pack() {
    const COMPOSES: [&str; 2] = ["crates/holdshort/", "crates/testkit/"];
    let packs: Vec<String> = all("Cargo.toml")
        .into_iter()
        .filter_map(|(name, _)| Some(name.strip_prefix("packs/")?.strip_suffix("/Cargo.toml")?.to_owned()))
        .collect();
    assert!(!packs.is_empty(), "there is no pack");
    let is_word = |text: &str, word: &str| {
        let parts = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        parts.into_iter().any(|part| part == word)
    };
    let mut known = Vec::new();
    for (name, text) in all(".rs").into_iter().chain(all("Cargo.toml")) {
        let is_product = name.starts_with("crates/") && !COMPOSES.iter().any(|of| name.starts_with(of));
        if !is_product || name.contains("/tests/") || WORDS_OF_A_WIRE.contains(&&*name) {
            continue;
        }
        let named = packs.iter().filter(|pack| is_word(&text, pack));
        known.extend(named.map(|pack| format!("{name}: {pack}")));
    }
    assert!(known.is_empty(), "{known:#?}");
}

/// Files that may contain the word `compliance`, because the crew protocol has compliance reviews (source document
/// 003).
const WORDS_OF_A_WIRE: [&str; 3] = [
    "crates/edges/src/crew/pause.rs",
    "crates/edges/src/crew/refusals.rs",
    "crates/notify/src/format/crew.rs",
];
