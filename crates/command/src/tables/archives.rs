//! Programs that pack files. The rows describe the forms that write to standard output, list an archive, or test an
//! archive.
//!
//! In all other forms, the programs replace the file that they are given.

use super::{Operands, Row, row};

const TO_OUTPUT: &[&str] = &["-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"];

pub(super) const ROWS: &[Row] = &[
    row(
        &["gzip", "gunzip"],
        "-# -c -d -f -k -l -n -N -q -t -v --stdout --to-stdout --decompress --uncompress --force --keep --list --no-name \
         --name --quiet --test --verbose --fast --best",
    )
    .with(Operands::Beside(TO_OUTPUT)),
    row(
        &["bzip2", "bunzip2"],
        "-# -c -d -f -k -q -s -t -v -z --stdout --decompress --compress --force --keep --quiet --small --test --verbose",
    )
    .with(Operands::Beside(&["-c", "--stdout"])),
    // `--files` is not listed, because it reads file names from a file that is not analyzed.
    row(
        &["xz", "unxz", "lzma", "unlzma"],
        "-# -c -d -e -f -k -l -q -t -T: -v -z --stdout --to-stdout --decompress --compress --extreme --force --keep --list \
         --quiet --test --threads: --verbose --robot",
    )
    // Of `-d`, `-l`, `-t` and `-z`, the last one applies. `-d` and `-z` replace the file.
    .with(Operands::Beside(&["-c", "--stdout", "--to-stdout"])),
    row(
        &["zstd", "unzstd"],
        "-# -c -d -f -k -l -q -t -T: -v -z --stdout --decompress --uncompress --compress --force --keep --list --quiet --test \
         --threads: --verbose --no-progress",
    )
    .with(Operands::Beside(&["-c", "--stdout"])),
    // Scripts that unpack their input and then search or print it.
    row(
        &["zgrep", "zegrep", "zfgrep", "bzgrep", "xzgrep", "zstdgrep"],
        "-A: -B: -C: -c -e: -E -F -h -H -i -l -L -m: -n -o -q -s -v -w -x --ignore-case --count --line-number",
    ),
    row(&["zless", "zmore", "xzless"], "").with(Operands::Without("+")),
];
