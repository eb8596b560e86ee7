//! Finds the files of the workspace that a line executes. A person who approves the line also approves the contents of
//! these files.
//!
//! The tables of this module list which arguments interpreters execute, and which files programs look for on their own.
//! Creating a missing file ends the approval. The results may name missing files, which the inspection of the call
//! removes. Files that are named only inside a script are not found. `named_paths.rs` finds all other words of a line
//! that may be paths.

use crate::working_directory::join;
use crate::{Command, Part, programs};

/// Programs that execute files without being told. Each entry has a program and the names of the files that the program
/// looks for in its working directory.
const BY_FOLDER: &[(&str, &[&str])] = &[
    ("make", MAKEFILES),
    ("gmake", MAKEFILES),
    ("bmake", MAKEFILES),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml"]),
    ("rake", &["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"]),
    ("invoke", &["tasks.py", "invoke.yaml"]),
    ("ninja", &["build.ninja"]),
    ("cmake", &["CMakeLists.txt", "CMakePresets.json"]),
    ("ant", &["build.xml"]),
    ("mvn", &["pom.xml", ".mvn/extensions.xml", ".mvn/maven.config"]),
    ("gradle", GRADLE),
    ("npm", PACKAGE),
    ("pnpm", PACKAGE),
    ("yarn", PACKAGE),
    ("bun", PACKAGE),
    ("npx", PACKAGE),
    ("cargo", &["Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config", "rust-toolchain.toml"]),
    ("go", &["go.mod"]),
    ("pytest", PYTEST),
    ("tox", &["tox.ini", "pyproject.toml", "setup.cfg"]),
    ("nox", &["noxfile.py"]),
    ("poetry", &["pyproject.toml"]),
    ("uv", &["pyproject.toml", "uv.toml"]),
    ("hatch", &["pyproject.toml"]),
    ("pdm", &["pyproject.toml"]),
    ("pip", &["pyproject.toml", "setup.py", "setup.cfg"]),
    ("pip3", &["pyproject.toml", "setup.py", "setup.cfg"]),
    ("pre-commit", &[".pre-commit-config.yaml"]),
    ("docker", &["Dockerfile", "compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"]),
    ("podman", &["Dockerfile", "Containerfile", "compose.yaml", "docker-compose.yml"]),
    ("vagrant", &["Vagrantfile"]),
    ("terraform", &["main.tf"]),
    ("deno", &["deno.json", "deno.jsonc", "package.json"]),
    ("bundle", &["Gemfile"]),
    ("composer", &["composer.json"]),
    ("mix", &["mix.exs"]),
    ("jest", PACKAGE),
    ("vite", PACKAGE),
    ("vitest", PACKAGE),
    ("tsc", &["tsconfig.json"]),
    ("scons", &["SConstruct"]),
    ("meson", &["meson.build"]),
    ("bazel", &["WORKSPACE", "MODULE.bazel", ".bazelrc", "BUILD", "BUILD.bazel"]),
];

const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];
const PACKAGE: &[&str] = &["package.json", ".npmrc"];
const PYTEST: &[&str] = &["conftest.py", "pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"];
const GRADLE: &[&str] =
    &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties"];

/// Options that make the programs in `BY_FOLDER` look in another folder.
const FOLDERS: [&str; 8] =
    ["-C", "--directory", "--working-directory", "--prefix", "--cwd", "--project-dir", "-p", "-d"];

/// Options that make the programs in `BY_FOLDER` execute a certain file.
const FILES: [&str; 6] = ["-f", "--file", "--makefile", "--justfile", "-F", "--manifest-path"];

impl Command {
    /// Returns the files that the command line names and executes, sorted and relative to the working directory of the
    /// tool call. The files may not exist. The files of a part that runs in an unknown folder are taken as relative to
    /// the working directory.
    pub fn scripts(&self) -> Vec<String> {
        let mut scripts: Vec<String> = self.runs().flat_map(Part::scripts).collect();
        scripts.sort();
        scripts.dedup();
        scripts
    }

    /// Returns the files and folders that the line gives to interpreters to execute, relative to the working directory
    /// of the tool call.
    pub fn interpreted(&self) -> Vec<String> {
        self.runs().flat_map(|part| part.in_its_folders(&part.interpreted())).collect()
    }

    /// Returns true if the command line executes something that it does not name. Examples are a file pattern, a path
    /// in a home folder, the standard input of an interpreter, and a Go package.
    pub fn runs_unnamed(&self) -> bool {
        let enters = |part: &Part| part.enters_unnamed();
        self.runs().any(Part::runs_unnamed) || self.parts.iter().chain(&self.guesses).any(enters)
    }

    /// Returns the parts of the command line that may execute a file of the workspace.
    fn runs(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().chain(&self.guesses).filter(|part| !part.runs_nothing())
    }
}

impl Part {
    fn scripts(&self) -> Vec<String> {
        let words: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let operands = || words.iter().filter(|word| !word.starts_with('-')).copied();
        let mut named: Vec<String> = Vec::new();
        if self.program.contains('/') {
            named.push(self.program.clone());
        }
        let base = self.base();
        match base {
            "." | "source" => named.extend(operands().take(1).map(str::to_owned)),
            "go" | "deno" | "bun" | "ts-node" | "tsx" => {
                named.extend(operands().filter(|word| word.contains('.')).map(str::to_owned));
            }
            "awk" | "gawk" | "mawk" | "nawk" | "sed" | "gsed" | "pytest" | "bats" | "expect" | "php" => {
                named.extend(operands().map(str::to_owned));
            }
            base if programs::is_interpreter(base) => {
                for script in self.interpreted() {
                    named.extend(also_run(base, &script));
                    named.push(script);
                }
                if is_python(base) {
                    named.extend(module(&words));
                }
            }
            _ => {}
        }
        let looked_for = looked_for(base);
        if !looked_for.is_empty() {
            let files: Vec<&str> = values(&words, &FILES).collect();
            let mut folders: Vec<String> = vec![String::new()];
            if let Some(folder) = self.entered().pop() {
                // The program first changes to that folder and then looks for files.
                folders = vec![folder];
            } else {
                folders.extend(values(&words, &FOLDERS).map(str::to_owned));
                let above = files.iter().filter_map(|file| file.rsplit_once('/'));
                folders.extend(above.map(|(folder, _)| folder.to_owned()));
            }
            for folder in &folders {
                named.extend(looked_for.iter().map(|file| join(folder, file)));
            }
            // The value of `-f` is relative to the folder of the program.
            named.extend(files.iter().map(|file| join(&folders[0], file)));
        }
        self.in_its_folders(&named)
    }

    /// Returns the paths relative to the working directory of the tool call: one for each folder in which this command
    /// may run.
    fn in_its_folders(&self, named: &[String]) -> Vec<String> {
        let folders = if self.folders.is_empty() { &[String::new()][..] } else { &self.folders };
        folders
            .iter()
            .flat_map(|folder| named.iter().map(|name| join(folder, name.strip_prefix("./").unwrap_or(name))))
            .collect()
    }
}

impl Part {
    fn interpreted(&self) -> Vec<String> {
        let base = self.base();
        if !programs::is_interpreter(base) {
            return Vec::new();
        }
        let words = self.arguments.iter().take(self.script_words(base)).filter(|word| !word.starts_with('-'));
        words.chain(&self.inputs).cloned().collect()
    }

    /// Returns the number of arguments that may be the script that an interpreter executes. After an option that may
    /// have a value, any word may be the script. Words after `-m module` are arguments of the module.
    fn script_words(&self, base: &str) -> usize {
        let words = &self.arguments;
        if words.first().is_some_and(|first| !first.starts_with('-')) {
            return 1;
        }
        let module = words.iter().position(|word| is_python(base) && word.starts_with("-m"));
        module.unwrap_or(words.len())
    }

    fn runs_unnamed(&self) -> bool {
        let base = self.base();
        let many = match base {
            "." | "source" => 1,
            "ts-node" | "tsx" | "bats" | "php" => self.arguments.len(),
            base if programs::is_interpreter(base) && !self.runs_a_module() => self.script_words(base),
            _ => self.arguments.len(),
        };
        if self.is_fed() || self.runs_a_package() {
            return true;
        }
        let in_home = |word: &str| word.starts_with('~');
        let mut words = self.words_and_expansions().take(many);
        words.any(|(word, expands)| expands || in_home(word))
            || self.inputs.iter().any(|input| input.contains(['*', '?', '[']) || in_home(input))
    }
}

impl Part {
    /// Returns true for an interpreter that executes unknown code from its standard input.
    fn is_fed(&self) -> bool {
        let is_shell = programs::is_shell(self.base());
        let names = |word: &String| {
            !word.starts_with('-') || word == "--test" || (is_python(self.base()) && word.starts_with("-m"))
        };
        let asks_for_input = |word: &String| word == "-" || (is_shell && word == "-s");
        programs::is_interpreter(self.base())
            && self.inputs.is_empty()
            && !self.tells_version()
            && (!self.arguments.iter().any(names) || self.arguments.iter().any(asks_for_input))
    }

    /// Returns true if the option `-m` runs a Python module, which may be a test runner. The words after the module are
    /// arguments of the module.
    fn runs_a_module(&self) -> bool {
        is_python(self.base()) && self.arguments.first().is_some_and(|word| word.starts_with("-m"))
    }

    /// Returns true for `go run ./cmd`, which executes all files of a folder.
    fn runs_a_package(&self) -> bool {
        let mut words = self.arguments.iter().skip_while(|word| *word != "run").skip(1);
        self.base() == "go"
            && self.arguments.iter().any(|word| word == "run")
            && words
                .find(|word| !word.starts_with('-'))
                .is_none_or(|word| word.rsplit_once('.').is_none_or(|(_, ending)| ending != "go"))
    }
}

/// Returns the names of the files that a program looks for in its folder and executes.
pub(crate) fn looked_for(base: &str) -> &'static [&'static str] {
    match base {
        "gradlew" => GRADLE,
        "mvnw" => &["pom.xml"],
        _ => BY_FOLDER.iter().find(|(name, _)| *name == base).map_or(&[], |(_, files)| files),
    }
}

pub(crate) fn is_python(base: &str) -> bool {
    base.starts_with("python") || base.starts_with("pypy")
}

/// Returns the files that an interpreter executes if the script argument is a folder, or a file name without extension.
fn also_run(base: &str, script: &str) -> Vec<String> {
    let script = script.trim_end_matches('/');
    let endings: &[&str] = match base {
        base if is_python(base) => &["/__main__.py"],
        "node" | "nodejs" => &[".js", ".cjs", ".mjs", ".json", "/index.js", "/package.json"],
        _ => &[],
    };
    endings.iter().map(|ending| format!("{script}{ending}")).collect()
}

/// Returns the files that `python3 -m tools.x` may execute: `tools/x.py` or `tools/x/__main__.py`.
fn module(words: &[&str]) -> Vec<String> {
    let module = values(words, &["-m"]).next().map(|module| module.replace('.', "/"));
    module.map_or_else(Vec::new, |name| vec![format!("{name}.py"), format!("{name}/__main__.py")])
}

/// Returns the values of these options in the words of a command. A value is the next word, or the rest of the option's
/// word.
pub(crate) fn values<'w>(words: &'w [&'w str], options: &'w [&'w str]) -> impl Iterator<Item = &'w str> {
    words.iter().enumerate().flat_map(move |(at, word)| {
        options.iter().filter_map(move |option| {
            let rest = word.strip_prefix(option)?;
            if rest.is_empty() {
                return words.get(at + 1).copied();
            }
            let is_long = option.len() > 2;
            rest.strip_prefix('=').or_else(|| (!is_long).then_some(rest))
        })
    })
}
