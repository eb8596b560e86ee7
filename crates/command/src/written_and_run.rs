//! Finds lines that execute a file that the same line writes, and commands in the texts that a line writes.
//!
//! Only the last components of paths are compared, so that a symbolic link or a change of the folder cannot hide such a
//! file. The functions of this module never cause a command to be allowed.

use std::collections::BTreeSet;

use crate::{Command, Part};

/// Maximum number of texts in one command line that are parsed as command lines.
const MAX_TEXTS: usize = 8;

/// Programs that write files with contents that the line chooses or downloads. A program that no table contains is
/// treated like these.
const WRITES_CONTENT: [&str; 37] = [
    "tee", "cp", "mv", "ln", "install", "dd", "sed", "gsed", "patch", "curl", "wget", "tar", "bsdtar",
    "gtar", "cpio", "unzip", "zip", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd",
    "lz4", "base64", "base32", "xxd", "rsync", "scp", "split", "csplit", "sort", "uniq", "iconv", "openssl",
];

impl Command {
    /// Returns true if a part of the command line may execute a file that another part, or the same one, writes.
    pub fn runs_what_it_writes(&self) -> bool {
        let parts = || self.parts.iter().chain(&self.guesses);
        let written: BTreeSet<&str> = parts().flat_map(Part::may_write).filter_map(last).collect();
        !written.is_empty()
            && self.scripts().iter().any(|script| script.split('/').any(|name| written.contains(name)))
    }

    /// Returns the texts that the command line may run as commands: they are written into a script, piped to a program,
    /// or part of code.
    pub(crate) fn texts_that_may_run(&self) -> Vec<String> {
        let parts = || self.parts.iter().chain(&self.guesses);
        let runs_code = |part: &Part| part.is_inline_code() && !part.only_edits();
        if !parts().any(runs_code) && !self.runs_what_it_writes() {
            return Vec::new();
        }
        let mut texts: Vec<String> = Vec::new();
        for part in parts() {
            let says = matches!(part.program.as_str(), "echo" | "printf");
            if says {
                texts.extend(part.arguments.iter().map(|word| word.replace("\\n", "\n")));
                texts.push(part.arguments.join(" "));
            } else if runs_code(part) {
                let quoted = part.arguments.iter().flat_map(|word| word.split(['\'', '"', '`']));
                texts.extend(quoted.map(str::to_owned));
            }
            texts.extend(part.inputs.iter().cloned());
        }
        texts.retain(|text| text.trim().contains([' ', '\t', '\n']));
        texts.sort();
        texts.dedup();
        texts.truncate(MAX_TEXTS);
        texts
    }
}

impl Part {
    /// Returns the files whose content this command may write.
    fn may_write(&self) -> Vec<&str> {
        let redirected = self.files.iter().filter(|file| self.redirected && !self.inputs.contains(file));
        let mut written: Vec<&str> = redirected.map(String::as_str).collect();
        let writes = WRITES_CONTENT.contains(&self.program.as_str()) || self.is_in_no_table();
        if writes && !self.is_read_only() {
            let named = self.texts().map(|(text, _)| text);
            written.extend(named.filter(|text| !self.inputs.iter().any(|input| input == text)));
        }
        written
    }
}

/// Returns the last component of a path. Returns `None` if it is `.`, `..` or empty.
fn last(path: &str) -> Option<&str> {
    let name = path.trim_end_matches('/').rsplit('/').next()?;
    (!name.is_empty() && !matches!(name, "." | "..")).then_some(name)
}
