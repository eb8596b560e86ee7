//! Every limit of the tools, by name and with its reason. Never a limit hidden in another file.

use std::time::Duration;

/// Bytes of a path argument: what the kernel takes, beside the NUL at its end.
pub const PATH_BYTES: usize = 4095;
/// Bytes of one name in a path: what file systems take.
pub const NAME_BYTES: usize = 255;
/// Bytes of a file that an agent may read in one call: what fits a model's context beside the rest.
pub const READ_BYTES: u64 = 256 * 1024;
/// Bytes of a file that may be written, edited, or be replaced: what a person can be shown as a diff.
pub const FILE_BYTES: u64 = 2 * 1024 * 1024;
/// Symlinks followed inside the workspace before a path counts as a loop (the kernel's own number).
pub const SYMLINKS: usize = 40;
/// Entries of one listing.
pub const LISTING_ENTRIES: usize = 1000;
/// Lines that one search returns.
pub const SEARCH_HITS: usize = 200;
/// Characters of a line that a search shows.
pub const SEARCH_LINE_CHARS: usize = 300;
/// Bytes of a file that a search still looks into: larger ones are data, not source.
pub const SEARCH_FILE_BYTES: u64 = 1024 * 1024;
/// Bytes that one search reads altogether, so that it ends.
pub const SEARCH_TOTAL_BYTES: u64 = 512 * 1024 * 1024;
/// Bytes of a compiled search pattern.
pub const SEARCH_PATTERN_BYTES: usize = 1024 * 1024;
/// Lines of a diff on a card.
pub const DIFF_LINES: usize = 2000;
/// Bytes of text of a diff on a card; the card is part of an event.
pub const DIFF_BYTES: usize = 64 * 1024;
/// How long a diff may look for the smallest form; then it takes a longer one, which is as true.
pub const DIFF_TIME: Duration = Duration::from_millis(500);

/// Bytes of a command line: the kernel takes 128 KiB for one argument, and quoting may double it.
pub const COMMAND_BYTES: usize = 32 * 1024;
/// The longest time that a call may ask for.
pub const COMMAND_SECONDS: u64 = 3600;
/// The time a command has unless its call says otherwise.
pub const COMMAND_DEFAULT_MS: u64 = 120_000;
/// Entries of folders looked at to tell a person how many files a command would reach: it has to be told at once.
pub const IMPACT_ENTRIES: usize = 10_000;
/// Folders in one another that are looked into for that; each holds a handle.
pub const IMPACT_DEPTH: usize = 64;
/// Places of one call that lead elsewhere than they say: they are part of an event. Beyond it a call may be anywhere.
pub const PLACES: usize = 64;
/// Entries of a folder looked at for what a file pattern stands for; beyond it that may be anything.
pub const PLACES_ENTRIES: usize = 1000;
/// Bytes that a command may print before it is stopped.
pub const OUTPUT_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes of output that are kept from the beginning …
pub const OUTPUT_HEAD_BYTES: usize = 16 * 1024;
/// … and from the end.
pub const OUTPUT_TAIL_BYTES: usize = 32 * 1024;
/// Entries of a workspace among which a command's sandbox looks for what is guarded, before and after the command. A
/// workspace with more runs no command that writes: nobody could say what it writes to.
pub const GUARD_ENTRIES: usize = 1_000_000;
/// Guarded names of a workspace in which a command writes: each is two mounts, and takes a millisecond.
pub const GUARDED_NAMES: usize = 4096;
/// Paths that were set aside which are named; the others are counted. They are part of an event.
pub const SET_ASIDE_NAMED: usize = 20;
/// Names tried in one folder for what is set aside; beyond them it is left, and a person is asked.
pub const SET_ASIDE_NUMBERS: u32 = 2_000_000;
/// How long a look for what is guarded may take before a command, which has all of its own time after it.
pub const LOOK_TIME: Duration = Duration::from_mins(2);
/// How long setting aside may take after a command; beyond it the workspace counts as not looked through.
pub const SET_ASIDE_TIME: Duration = Duration::from_mins(5);
/// Bytes that a command may write to disks altogether before it is stopped: more than a large build needs, less than a
/// disk.
pub const WRITE_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// How often the bytes that a command has written are counted.
pub const COUNT_BYTES_EVERY: Duration = Duration::from_millis(200);
/// Scripts of one command line whose content is bound and shown; with more of them it asks without a grant.
pub const SCRIPTS: usize = 32;
/// Bytes of a script that a card shows.
pub const SCRIPT_SHOWN_BYTES: usize = 16 * 1024;
/// How long a stopped process tree may take to go, before its remains are left to the kernel.
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
/// Bytes of all diffs of such a card, about: the card is part of an event.
pub const CARD_DIFF_BYTES: usize = 128 * 1024;
/// Bytes of a file whose diff such a card shows; of a larger one it says so.
pub const CARD_FILE_BYTES: u64 = 256 * 1024;
/// Bytes of one file that a trial changes, before it and after it: each is kept, and a person may look at it.
pub const CHANGED_FILE_BYTES: u64 = 128 * 1024 * 1024;
/// Bytes of all files that a trial leaves changed, as they are then.
pub const CHANGED_BYTES: u64 = 1024 * 1024 * 1024;
/// Paths that a trial leaves changed, and paths looked at to find them: the list of them is part of the journal.
pub const CHANGED_PATHS: usize = 100_000;
/// Files, folders and links of a run's layer. A command that would go past it asks (`layer_full`).
pub const LAYER_PATHS: usize = 200_000;
/// Bytes of the files of a run's layer: a build and its tests, and less than a disk.
pub const LAYER_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// Bytes of the files of the layers of all runs of a node, those that wait included. A command that would go past it asks
/// (`layer_full`).
pub const LAYERS_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// Files, folders and links of a workspace that is copied where there can be no overlay.
pub const COPIED_PATHS: usize = 20_000;
/// Bytes of such a workspace. Where the file system shares them between files they count all the same.
pub const COPIED_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes of a commit that are looked at for the first line of its message.
pub const GIT_OBJECT_BYTES: u64 = 64 * 1024;
/// Characters of that line that are told.
pub const GIT_SUBJECT_CHARS: usize = 100;

/// Processes of one command at once; beyond that it is stopped.
pub const PROCESSES: usize = 512;
/// How often the processes of a command are counted.
pub const WATCH_EVERY: Duration = Duration::from_millis(20);
/// `RLIMIT_NPROC`, the second line behind counting (it does not bind root).
pub const RLIMIT_PROCESSES: u64 = 8192;
/// `RLIMIT_FSIZE`: bytes of one file that a command writes.
pub const RLIMIT_FILE_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// `RLIMIT_NOFILE`.
pub const RLIMIT_OPEN_FILES: u64 = 4096;
/// `RLIMIT_AS`: generous, because runtimes reserve address space that they never use.
pub const RLIMIT_ADDRESS_BYTES: u64 = 64 * 1024 * 1024 * 1024;
/// Entries of `/etc` looked at for what every user may read; beyond that the rest stays closed.
pub const ETC_ENTRIES: usize = 20_000;

/// How long getting one page may take altogether: its redirects, its body.
pub const FETCH_TIME: Duration = Duration::from_secs(30);
/// How long looking a host up may take, and connecting to it.
pub const FETCH_CONNECT_TIME: Duration = Duration::from_secs(10);
/// Bytes of a page that are read, as they come and when they are unpacked.
pub const FETCH_BODY_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a page's text that an agent is given: as much as of a file.
pub const FETCH_TEXT_BYTES: usize = 256 * 1024;
/// Redirects within one host that are followed for one page.
pub const FETCH_REDIRECTS: usize = 5;
