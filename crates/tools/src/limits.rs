//! Every limit of the tools, by name and with its reason. No limit may be hidden in another file.

use std::time::Duration;

/// Bytes of a path argument: the kernel's limit without the NUL at the end.
pub const PATH_BYTES: usize = 4095;
/// Bytes of one name in a path: the limit of file systems.
pub const NAME_BYTES: usize = 255;
/// Bytes of a file that an agent may read in one call: they must fit a model's context with everything else.
pub const READ_BYTES: u64 = 256 * 1024;
/// Bytes of a file that may be written, edited or replaced: a person must be able to review it as a diff.
pub const FILE_BYTES: u64 = 2 * 1024 * 1024;
/// Symlinks followed inside the workspace before a path is treated as a loop (the kernel's own number).
pub const SYMLINKS: usize = 40;
/// Entries of one listing.
pub const LISTING_ENTRIES: usize = 1000;
/// Lines that one search returns.
pub const SEARCH_HITS: usize = 200;
/// Characters of a line that a search shows.
pub const SEARCH_LINE_CHARS: usize = 300;
/// Bytes of a file that a search still reads: larger files are data, not source.
pub const SEARCH_FILE_BYTES: u64 = 1024 * 1024;
/// Bytes that one search reads in total, so that it ends.
pub const SEARCH_TOTAL_BYTES: u64 = 512 * 1024 * 1024;
/// Bytes of a compiled search pattern.
pub const SEARCH_PATTERN_BYTES: usize = 1024 * 1024;
/// Lines of a diff on a card.
pub const DIFF_LINES: usize = 2000;
/// Bytes of text of a diff on a card; the card is part of an event.
pub const DIFF_BYTES: usize = 64 * 1024;
/// Time to look for the smallest diff. After it a longer diff is used, which is as correct.
pub const DIFF_TIME: Duration = Duration::from_millis(500);

/// Bytes of a command line: the kernel takes 128 KiB for one argument, and quoting may double it.
pub const COMMAND_BYTES: usize = 32 * 1024;
/// Maximum timeout that a call may ask for.
pub const COMMAND_SECONDS: u64 = 3600;
/// Timeout of a command if its call names none.
pub const COMMAND_DEFAULT_MS: u64 = 120_000;
/// Entries of folders that are counted to show how many files a command would reach: a person needs this at once.
pub const IMPACT_ENTRIES: usize = 10_000;
/// Depth of nested folders that are read for that count; each level holds a handle.
pub const IMPACT_DEPTH: usize = 64;
/// Paths of one call that resolve to other places; they are part of an event. With more of them the call may reach any
/// place.
pub const PLACES: usize = 64;
/// Entries of a folder that a file pattern is matched against. With more of them the pattern may match anything.
pub const PLACES_ENTRIES: usize = 1000;
/// Bytes that a command may print before it is stopped.
pub const OUTPUT_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes of output that are kept from the beginning.
pub const OUTPUT_HEAD_BYTES: usize = 16 * 1024;
/// Bytes of output that are kept from the end.
pub const OUTPUT_TAIL_BYTES: usize = 32 * 1024;
/// Entries of a workspace that a command's sandbox searches for guarded paths, before and after the command. In a
/// larger workspace no command that writes may run, since its writes could not be checked.
pub const GUARD_ENTRIES: usize = 1_000_000;
/// Guarded names of a workspace in which a command writes: each needs two mounts, which take a millisecond.
pub const GUARDED_NAMES: usize = 4096;
/// Paths set aside that are listed by name; the others are counted. They are part of an event.
pub const SET_ASIDE_NAMED: usize = 20;
/// Names tried in one folder for a path to set aside. If none is free the path stays, and a person is asked.
pub const SET_ASIDE_NUMBERS: u32 = 2_000_000;
/// Time to search for guarded paths before a command. It does not reduce the command's own timeout.
pub const LOOK_TIME: Duration = Duration::from_mins(2);
/// Time to set guarded paths aside after a command. After it the search is treated as incomplete.
pub const SET_ASIDE_TIME: Duration = Duration::from_mins(5);
/// Bytes that a command may write to disks in total before it is stopped: more than a large build needs, less than a
/// disk.
pub const WRITE_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// Interval between two counts of the bytes that a command has written.
pub const COUNT_BYTES_EVERY: Duration = Duration::from_millis(200);
/// Scripts of one command line whose content is bound and shown. With more of them the command asks without a grant.
pub const SCRIPTS: usize = 32;
/// Bytes of a script that a card shows.
pub const SCRIPT_SHOWN_BYTES: usize = 16 * 1024;
/// Time for a stopped process tree to end, before its remains are left to the kernel.
pub const STOP_TIME: Duration = Duration::from_secs(10);
/// Time that one probe of the sandbox's level may take.
pub const PROBE_TIME: Duration = Duration::from_secs(10);
/// Probes of one level before the next lower one is tried: a busy host can fail one.
pub const PROBES: usize = 3;
/// Time after which a level below the full one is probed again: a host under load can fail every probe of a series.
pub const PROBE_AGAIN: Duration = Duration::from_mins(1);

/// Paths of a trial that its card names; the others are counted.
pub const CARD_PATHS: usize = 500;
/// Paths of the run's layer that the card names; the others are counted.
pub const CARD_LAYER_PATHS: usize = 20;
/// Approximate bytes of all diffs of such a card: the card is part of an event.
pub const CARD_DIFF_BYTES: usize = 128 * 1024;
/// Bytes of a file whose diff such a card shows. A larger file is shown without a diff.
pub const CARD_FILE_BYTES: u64 = 256 * 1024;
/// Bytes of one file that a trial changes, before and after: both versions are kept, and a person may look at them.
pub const CHANGED_FILE_BYTES: u64 = 128 * 1024 * 1024;
/// Bytes of all files that a trial leaves changed, in their new version.
pub const CHANGED_BYTES: u64 = 1024 * 1024 * 1024;
/// Paths that a trial leaves changed, and paths searched to find them: their list is part of the journal.
pub const CHANGED_PATHS: usize = 100_000;
/// Files, folders and links of a run's layer. A command that would exceed it asks (`layer_full`).
pub const LAYER_PATHS: usize = 200_000;
/// Bytes of the files of a run's layer: enough for a build and its tests, less than a disk.
pub const LAYER_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// Bytes of the files of the layers of all runs of a node, waiting runs included. A command that would exceed it asks
/// (`layer_full`).
pub const LAYERS_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// Files, folders and links of a workspace that is copied where an overlay is not possible.
pub const COPIED_PATHS: usize = 20_000;
/// Bytes of such a workspace. Data that the file system shares between files is counted for each of them.
pub const COPIED_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes of a commit that are searched for the first line of its message.
pub const GIT_OBJECT_BYTES: u64 = 64 * 1024;
/// Characters of that line that are shown.
pub const GIT_SUBJECT_CHARS: usize = 100;

/// Processes of one command at once. A command with more is stopped.
pub const PROCESSES: usize = 512;
/// Interval between two counts of a command's processes.
pub const WATCH_EVERY: Duration = Duration::from_millis(20);
/// `RLIMIT_NPROC`, the second line of defence behind counting (it does not bind root).
pub const RLIMIT_PROCESSES: u64 = 8192;
/// `RLIMIT_FSIZE`: bytes of one file that a command writes.
pub const RLIMIT_FILE_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// `RLIMIT_NOFILE`.
pub const RLIMIT_OPEN_FILES: u64 = 4096;
/// `RLIMIT_AS`: generous, because runtimes reserve address space that they never use.
pub const RLIMIT_ADDRESS_BYTES: u64 = 64 * 1024 * 1024 * 1024;
/// Entries of `/etc` searched for what every user may read. The rest stays closed.
pub const ETC_ENTRIES: usize = 20_000;

/// Time to get one page in total, with its redirects and its body.
pub const FETCH_TIME: Duration = Duration::from_secs(30);
/// Time to look up a host, and time to connect to it.
pub const FETCH_CONNECT_TIME: Duration = Duration::from_secs(10);
/// Bytes of a page that are read: both as received and as unpacked.
pub const FETCH_BODY_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a page's text that an agent receives: as many as of a file.
pub const FETCH_TEXT_BYTES: usize = 256 * 1024;
/// Redirects within one host that are followed for one page.
pub const FETCH_REDIRECTS: usize = 5;
