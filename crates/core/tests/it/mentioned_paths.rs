//! Recognition of the changed paths that a task mentions. Each case also has similar paths that the task does not
//! mention.

use std::collections::BTreeSet;

use holdshort_core::mentioned_paths::outside;

/// Returns the paths that are marked because the task does not mention them.
fn marked<'p>(task: &str, paths: &[&'p str]) -> Vec<&'p str> {
    outside(&[task], "/home/me/work", paths.iter().copied()).into_iter().collect()
}

#[test]
fn every_name_and_its_near_miss() {
    // Task, changed paths that the task mentions, and changed paths that the task does not mention.
    let table: [(&str, &[&str], &[&str]); 48] = [
        // A directory. Directories whose names only begin with the same letters are not mentioned.
        ("Tidy up src/", &["src/a.rs", "src/deep/b.rs", "src"], &["src2/a.rs", "lib/src/a.rs", "a.rs"]),
        ("Tidy up ./src", &["src/a.rs"], &["src2/a.rs"]),
        ("Tidy up ./src/./deep//", &["src/deep/a.rs"], &["src/a.rs"]),
        ("Change src/core and nothing else", &["src/core/a.rs"], &["src/core2/a.rs", "src/a.rs"]),
        // A file, at different positions in a sentence.
        ("Fix src/lib.rs", &["src/lib.rs"], &["src/lib.rs.orig", "src/main.rs", "other/src/lib.rs"]),
        ("Fix src/lib.rs.", &["src/lib.rs"], &["a.rs"]),
        ("Is it in (src/lib.rs)?", &["src/lib.rs"], &["a.rs"]),
        ("src/lib.rs's last function, src/a.rs;src/b.rs", &["src/lib.rs", "src/a.rs", "src/b.rs"], &["a.rs"]),
        ("Fix 'src/lib.rs', then \"src/a.rs\"!", &["src/lib.rs", "src/a.rs"], &["src/b.rs"]),
        ("See [the page](docs/a.md) and <docs/b.md>", &["docs/a.md", "docs/b.md"], &["docs/c.md"]),
        ("It fails at src/lib.rs:12:3 and src/a.rs#L4", &["src/lib.rs", "src/a.rs"], &["src/b.rs"]),
        ("Look at src/lib.rs:12-20:", &["src/lib.rs"], &["a.rs"]),
        ("Run it with --manifest-path=crates/a/Cargo.toml", &["crates/a/Cargo.toml"], &["Cargo.lock"]),
        ("**src/lib.rs** only", &["src/lib.rs"], &["a.rs"]),
        ("@src/lib.rs please", &["src/lib.rs"], &["a.rs"]),
        ("/home/me/work/src/lib.rs", &["src/lib.rs"], &["home/me/work/src/lib.rs"]),
        // Text in backticks, with and without other words.
        ("Fix `src/lib.rs`.", &["src/lib.rs"], &["a.rs"]),
        ("Fix `my notes/to do.txt`", &["my notes/to do.txt"], &["my notes/a.txt", "do.md"]),
        ("`cargo fmt src/lib.rs` is what I want", &["src/lib.rs"], &["a.rs"]),
        ("Only `src`", &["src/a.rs"], &["lib.rs"]),
        ("Only `app/(group)/page.tsx`", &["app/(group)/page.tsx"], &["app/page.tsx"]),
        ("Only `src/*.{rs,md}`", &["src/a.rs", "src/b.md"], &["src/c.txt"]),
        ("`tool.xyz` is wrong", &["bin/tool.xyz"], &["bin/tool"]),
        // File patterns.
        ("Format src/**", &["src/a.rs", "src/b/c.rs"], &["a.rs"]),
        ("Format src/*.rs", &["src/a.rs"], &["src/b/c.rs", "src/a.md"]),
        ("Format crates/*/src", &["crates/a/src/b.rs"], &["crates/a/b.rs"]),
        ("Sort all *.md", &["a.md", "docs/b.md"], &["a.txt"]),
        ("Sort all .md files", &["a.md", "docs/b.md"], &["a.txt"]),
        // A file name without a directory, which matches a file in any directory.
        ("Fix lib.rs", &["lib.rs", "src/lib.rs"], &["src/lib2.rs", "lib.rs.orig"]),
        ("Add it to .gitignore", &[".gitignore", "sub/.gitignore"], &[".gitattributes"]),
        ("Update the README and the Makefile", &["README.md", "sub/Makefile"], &["READMES.md", "a.mk"]),
        // Words such as `tests` and `docs`, which stand for a directory.
        ("Fix a.rs, its tests and docs", &["a.rs", "tests/a.rs", "docs/a.md"], &["doc/a.md", "b.rs"]),
        // Backslashes as separators, and non-Latin scripts.
        ("Fix src\\core\\lib.rs", &["src/core/lib.rs"], &["src/lib.rs"]),
        (".\\src\\ only", &["src/a.rs"], &["a.rs"]),
        ("Исправь доки/план.md, пожалуйста", &["доки/план.md"], &["доки/план2.md"]),
        ("请修改`文档/说明.md`。", &["文档/说明.md"], &["文档/其他.md"]),
        ("请修改src/lib.rs的内容", &["src/lib.rs"], &["src/main.rs"]),
        ("文档/说明.md。", &["文档/说明.md"], &["文档/其他.md"]),
        ("src/lib.rs를 고쳐", &["src/lib.rs"], &["a.rs"]),
        // Texts that look like paths but are not.
        ("See https://a.org/src/x.md, fix a.rs", &["a.rs"], &["src/x.md", "x.md"]),
        ("See example.org/docs/x.md, fix a.rs", &["a.rs"], &["example.org/docs/x.md", "docs/x.md"]),
        ("Mail me@b.rs about git@b.com:c/d.rs, fix a.rs", &["a.rs"], &["b.rs", "c/d.rs"]),
        ("As in ../other/x.rs and ~/y.rs, fix a.rs", &["a.rs"], &["other/x.rs", "x.rs", "y.rs"]),
        ("As in /etc/x.conf and C:\\y.rs, fix a.rs", &["a.rs"], &["etc/x.conf", "x.conf", "y.rs"]),
        ("Use std::fs/read.rs and $HOME/x.rs, fix a.rs", &["a.rs"], &["fs/read.rs", "read.rs", "x.rs"]),
        ("Use Node.js and .NET 4.5, fix a.rs", &["a.rs"], &["lib/Node.js"]),
        // A backtick without a closing backtick.
        ("It`s a.rs and lib/", &["a.rs", "lib/x"], &["b.rs"]),
        ("Either a.rs and/or b.rs", &["a.rs", "b.rs"], &["c.rs"]),
    ];
    let wrong: Vec<_> = table
        .into_iter()
        .filter_map(|(task, named, not_named)| {
            let all: Vec<&str> = named.iter().chain(not_named).copied().collect();
            let expected: BTreeSet<&str> = not_named.iter().copied().collect();
            let marked = marked(task, &all);
            (marked != expected.into_iter().collect::<Vec<_>>()).then_some((task, marked))
        })
        .collect();
    assert_eq!(wrong, []);
}

/// No change is marked if the task mentions no path.
#[test]
fn where_a_task_names_no_path_nothing_is_marked() {
    let paths = ["a.rs", "src/b.rs", "docs/c.md"];
    for task in [
        "",
        "Make it work",
        "Fix the docs and the tests",
        "Use and/or instead of TCP/IP, 24/7, v1.2.3 and 2.0/3.0",
        "Rename `foo` to `bar`, e.g. i.e. etc.",
        "Call `foo.bar` and `std::fs::read`",
        "Port it from Node.js to Vue.js; *important*",
        "See https://example.org/a/b.html and www.example.org/x/ and github.com/a/b.git",
        "As in ../other/x.rs and /etc/passwd, ~/.bashrc",
        "写一个脚本，读/写文件",
        "Work in ./",
        "`",
        "/ . .. ./ ../ ` ` * ** `*` : # @ ~",
    ] {
        assert_eq!(marked(task, &paths), Vec::<&str>::new(), "{task}");
    }
}

/// All texts of a task are read together. No change is marked if they contain too many patterns.
#[test]
fn all_texts_count_and_too_many_patterns_mark_nothing() {
    let of = |texts: &[&str]| outside(texts, "/w", ["a.rs", "b.rs", "c.rs"]).len();
    assert_eq!(of(&["Fix a.rs", "and b.rs too"]), 1);
    assert_eq!(of(&["Fix a.rs"]), 2);
    assert_eq!(of(&[]), 0);
    let patterns = |n: usize| (0..n).map(|n| format!("x{n}/*.rs")).collect::<Vec<_>>().join(" ");
    assert_eq!(of(&[&patterns(200)]), 3);
    assert_eq!(of(&[&patterns(201)]), 0);
}
