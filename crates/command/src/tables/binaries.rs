//! Programs that inspect object files.

use super::{Operands, Row, row};

pub(super) const ROWS: &[Row] = &[
    // `--plugin` is not listed, because it loads a library. A word that begins with `@` is a file with further options.
    row(
        &["nm"],
        "-a -A -B -C -D -g -n -o -p -P -r -S -s -t: -u -U -W --demangle? --dynamic --defined-only --undefined-only \
         --extern-only --no-weak --size-sort --numeric-sort --no-sort --reverse-sort --print-size --print-file-name \
         --print-armap --radix: --format: --portability --debug-syms --with-symbol-versions",
    )
    .with(Operands::Without("@")),
    // Options that print sources and debugging data are not listed, because the data may be fetched from the network.
    row(
        &["objdump"],
        "-a -C -d -D -f -h -x -g -j: -p -r -R -s -t -T -w -z -M: -b: -m: --disassemble? --disassemble-all --section: --syms \
         --dynamic-syms --section-headers --headers --file-headers --private-headers --all-headers --full-contents \
         --reloc --dynamic-reloc --demangle? --no-show-raw-insn --show-raw-insn --no-addresses --start-address: \
         --stop-address: --wide --info --disassembler-options: --architecture: --target:",
    )
    .with(Operands::Without("@")),
    row(
        &["readelf", "eu-readelf"],
        "-a -h -l -S -s -e -n -r -u -d -V -A -D -W -I -g -t -c -x: -p: --all --file-header --program-headers --segments \
         --section-headers --sections --symbols --syms --dyn-syms --headers --notes --relocs --dynamic --version-info \
         --arch-specific --use-dynamic --histogram --section-groups --section-details --hex-dump: --string-dump: --wide \
         --demangle?",
    )
    .with(Operands::Without("@")),
    row(&["size"], "-A -B -G -d -o -x -t --format: --totals --common --radix:").with(Operands::Without("@")),
    row(&["c++filt"], "-_ -n -t -i -p -r -s: --types --no-verbose --format: --no-params").with(Operands::Without("@")),
    row(&["addr2line"], "-a -e: -f -C -p -i -s -j: --addresses --exe: --functions --demangle? --pretty-print --inlines --basenames")
        .with(Operands::Without("@")),
];
