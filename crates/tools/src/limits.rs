//! All limits of the tools, by name. No other file of this crate may contain a limit.

use std::time::Duration;

/// Maximum number of bytes of a path: the kernel's limit without the final NUL. A call with a longer path fails; an
/// edit is refused with `invalid_request`.
pub const PATH_BYTES: usize = 4095;
/// Maximum number of bytes of one name in a path: the limit of file systems. A call with a longer name fails; an edit
/// is refused with `invalid_request`.
pub const NAME_BYTES: usize = 255;
/// Maximum number of bytes of a file that `read_file` returns, so that its text fits into the context of a model. A
/// call for a larger file fails.
pub const READ_BYTES: u64 = 256 * 1024;
/// Maximum number of bytes of a file after a write or an edit, so that a person can review the file. A call with a
/// larger file fails; an edit is refused with `invalid_request`.
pub const FILE_BYTES: u64 = 2 * 1024 * 1024;
/// Maximum number of symbolic links that are followed to resolve one path, the same number as in the kernel. A call
/// with more links fails.
pub const SYMLINKS: usize = 40;
/// Maximum number of entries that `list_directory` returns. Of further entries, only the number is returned.
pub const LISTING_ENTRIES: usize = 1000;
/// Maximum number of lines that `search_codebase` returns. Further lines are omitted, with a note.
pub const SEARCH_HITS: usize = 200;
/// Maximum number of characters of a line that `search_codebase` returns. A longer line is truncated.
pub const SEARCH_LINE_CHARS: usize = 300;
/// Maximum number of bytes of a file that `search_codebase` reads. A larger file is skipped, because it is seldom
/// source code.
pub const SEARCH_FILE_BYTES: u64 = 1024 * 1024;
/// Maximum number of bytes that one search reads. At this number of bytes the search ends, with a note.
pub const SEARCH_TOTAL_BYTES: u64 = 512 * 1024 * 1024;
/// Maximum number of bytes of a compiled search pattern. A call with a larger pattern fails.
pub const SEARCH_PATTERN_BYTES: usize = 1024 * 1024;
/// Maximum number of lines of a diff on a card. Further lines are omitted, and the card shows how many there are.
pub const DIFF_LINES: usize = 2000;
/// Maximum number of bytes of a diff on a card. The diff is stored in an event. Further lines are omitted, and the card
/// shows how many there are.
pub const DIFF_BYTES: usize = 64 * 1024;
/// Time limit for computing the shortest possible diff. After this time, a correct but longer diff is shown.
pub const DIFF_TIME: Duration = Duration::from_millis(500);

/// Maximum number of bytes of a command line. A call with a longer command line fails; an edit is refused with
/// `invalid_request`.
pub const COMMAND_BYTES: usize = 32 * 1024;
/// Maximum `timeout_s` of a command, and maximum CPU time of one process. A call with a longer timeout fails. A process
/// that uses more CPU time is stopped.
pub const COMMAND_SECONDS: u64 = 3600;
/// Time limit of a command whose call has no `timeout_s`. After this time, the command is stopped.
pub const COMMAND_DEFAULT_MS: u64 = 120_000;
/// Maximum number of entries that are examined to count the files that a command would reach. With more entries, the
/// card says "more than".
pub const IMPACT_ENTRIES: usize = 10_000;
/// Maximum depth of nested folders that are examined to count the files that a command would reach. With deeper
/// folders, the card says "more than".
pub const IMPACT_DEPTH: usize = 64;
/// Maximum number of paths of one call whose links are resolved. If a call has more paths, it is treated as if it could
/// reach any path: every `paths` rule that asks or forbids applies.
pub const PLACES: usize = 64;
/// Maximum number of entries of a folder that are matched with a file pattern. If the folder has more entries, the
/// pattern is treated as if it could match any path.
pub const PLACES_ENTRIES: usize = 1000;
/// Maximum number of bytes that a command prints. With more output, the command is stopped.
pub const OUTPUT_BYTES: u64 = 8 * 1024 * 1024;
/// Number of bytes from the beginning of a command's output that are stored. The omitted middle part is replaced by its
/// number of bytes.
pub const OUTPUT_HEAD_BYTES: usize = 16 * 1024;
/// Number of bytes from the end of a command's output that are stored. The omitted middle part is replaced by its
/// number of bytes.
pub const OUTPUT_TAIL_BYTES: usize = 32 * 1024;
/// Maximum number of bytes that a command of an external agent may print during its trial, on both streams together.
/// With more output, the trial is discarded, and a person is asked about the call without a trial.
pub const CAPTURED_BYTES: usize = 128 * 1024;
/// Maximum number of names that the reason for discarding a trial of an external agent lists. Further names are
/// omitted.
pub const OUTSIDE_NAMED: usize = 3;
/// Maximum number of entries that are searched for files which a trial wrote outside the workspace. With more entries,
/// the trial is discarded.
pub const OUTSIDE_ENTRIES: usize = 10_000;
/// Maximum number of entries of a workspace that are searched for guarded files (files that a person's tools run
/// automatically) before and after a command. If there are more entries, commands that are allowed to write do not run.
pub const GUARD_ENTRIES: usize = 1_000_000;
/// Maximum number of guarded files of a workspace, and maximum number of sockets and named pipes of a workspace. Each
/// guarded file, socket or pipe needs two mounts. If there are more, commands that are allowed to write do not run.
pub const GUARDED_NAMES: usize = 4096;
/// Maximum number of paths in the list of guarded paths that were set aside (renamed) after a command. Of further
/// paths, only the number is listed.
pub const SET_ASIDE_NAMED: usize = 20;
/// Maximum number of names that are tried in a folder when a guarded path is set aside. If all these names are in use,
/// the path is not renamed, and later commands that are allowed to write need an approval.
pub const SET_ASIDE_NUMBERS: u32 = 2_000_000;
/// Time limit for the search for guarded files before a command. The time for this search is not part of the command's
/// timeout. After this time, the command does not run.
pub const LOOK_TIME: Duration = Duration::from_mins(2);
/// Time limit for setting guarded files aside after a command. If the limit is exceeded, later commands that are
/// allowed to write need an approval.
pub const SET_ASIDE_TIME: Duration = Duration::from_mins(5);
/// Maximum number of bytes that a command writes to disks in total. If a command writes more, it is stopped.
pub const WRITE_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// Interval at which the bytes that a command has written are counted.
pub const COUNT_BYTES_EVERY: Duration = Duration::from_millis(200);
/// Maximum number of scripts of one command line to whose content an approval is bound. If a line has more scripts, it
/// needs an approval each time, because no grant for the session is offered.
pub const SCRIPTS: usize = 32;
/// Maximum number of bytes of a script that a card shows. The rest of the script is omitted. The digest on the card is
/// that of the whole script.
pub const SCRIPT_SHOWN_BYTES: usize = 16 * 1024;
/// Time within which the processes of a stopped command must end. After this time, the server stops waiting for the
/// processes.
pub const STOP_TIME: Duration = Duration::from_secs(10);
/// Time limit of one test (probe) of whether a sandbox level works. After this time, the probe fails.
pub const PROBE_TIME: Duration = Duration::from_secs(10);
/// Maximum number of probes of one sandbox level. If all of them fail, the next lower level is probed.
pub const PROBES: usize = 3;
/// Interval after which a sandbox level below `full` is probed again, because all probes can fail while the host is
/// busy.
pub const PROBE_AGAIN: Duration = Duration::from_mins(1);

/// Maximum number of paths of a trial that its card lists. Of further paths, only the number is listed.
pub const CARD_PATHS: usize = 500;
/// Maximum number of paths of the run's layer (files that its commands wrote and git ignores) that a card lists. Of
/// further paths, only the number is listed.
pub const CARD_LAYER_PATHS: usize = 20;
/// Approximate maximum number of bytes of all diffs on the card of a trial. Of further files, only the number is shown.
pub const CARD_DIFF_BYTES: usize = 128 * 1024;
/// Maximum number of bytes of a file for which the card of a trial shows a diff. A larger file is listed without a
/// diff.
pub const CARD_FILE_BYTES: u64 = 256 * 1024;
/// Maximum number of bytes that each file may have which a trial changes, before and after the change. With a larger
/// file, the trial is discarded.
pub const CHANGED_FILE_BYTES: u64 = 128 * 1024 * 1024;
/// Maximum number of bytes of all files that a trial changes. With more bytes, the trial is discarded.
pub const CHANGED_BYTES: u64 = 1024 * 1024 * 1024;
/// Maximum number of paths that a trial may change, and that are searched for changes. With more paths, the trial is
/// discarded, and its result gives the reason.
pub const CHANGED_PATHS: usize = 100_000;
/// Maximum number of files, folders and links in the layer of a run. A command that would exceed this number needs an
/// approval (`layer_full`). If the command is approved, its ignored files are written to the workspace, and the
/// approval is bound to these files too.
pub const LAYER_PATHS: usize = 200_000;
/// Maximum number of bytes of the layer of a run, which is enough for a build and its tests. A command that would
/// exceed this size needs an approval (`layer_full`).
pub const LAYER_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// Maximum number of bytes of the layers of all runs on a node. A command that would exceed this size needs an approval
/// (`layer_full`). Erasing runs that have ended frees space.
pub const LAYERS_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// Maximum number of paths of a workspace or layer that is copied because overlays are unavailable. With more paths, no
/// trial runs: the call needs an approval.
pub const COPIED_PATHS: usize = 20_000;
/// Maximum number of bytes of a workspace or layer that is copied because overlays are unavailable. Data that several
/// files share is counted once for each file. With more bytes, no trial runs: the call needs an approval.
pub const COPIED_BYTES: u64 = 256 * 1024 * 1024;
/// Maximum number of bytes at the beginning of a commit that are searched for its message. If the message begins later,
/// the commit is shown as an object.
pub const GIT_OBJECT_BYTES: u64 = 64 * 1024;
/// Maximum number of characters of the first line of a commit's message that a card shows. A longer line is truncated.
pub const GIT_SUBJECT_CHARS: usize = 100;

/// Maximum number of concurrent processes of one command. With more processes, the command is stopped.
pub const PROCESSES: usize = 512;
/// Interval at which the processes of a command are counted.
pub const WATCH_EVERY: Duration = Duration::from_millis(20);
/// Maximum number of processes of the user under which commands run (`RLIMIT_NPROC`), unless this user is root. Further
/// processes do not start.
pub const RLIMIT_PROCESSES: u64 = 8192;
/// Maximum number of bytes of one file that a command writes (`RLIMIT_FSIZE`). A process that writes a larger file
/// receives the signal `SIGXFSZ`.
pub const RLIMIT_FILE_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// Maximum number of open files of a process (`RLIMIT_NOFILE`). Further files cannot be opened.
pub const RLIMIT_OPEN_FILES: u64 = 4096;
/// Maximum size of the address space of a process (`RLIMIT_AS`). The limit of the address space is high, because
/// runtimes reserve much address space that they never use. If a process needs more, its allocations of memory fail.
pub const RLIMIT_ADDRESS_BYTES: u64 = 64 * 1024 * 1024 * 1024;
/// Maximum number of entries of `/etc` that are searched for files that every user may read. If `/etc` has more
/// entries, commands cannot read the further ones.
pub const ETC_ENTRIES: usize = 20_000;

/// Time limit for fetching a page, including redirects and the body. After this time, the call fails with `timed_out`.
pub const FETCH_TIME: Duration = Duration::from_secs(30);
/// Time limit for looking up a host and connecting to it. After this time, the call fails with `timed_out`.
pub const FETCH_CONNECT_TIME: Duration = Duration::from_secs(10);
/// Maximum number of bytes of a page, both as received and after decompression. The rest of the page is not read, and a
/// note in the result reports this.
pub const FETCH_BODY_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of bytes of a page's text that an agent receives. The rest of the page's text is replaced by its
/// number of bytes.
pub const FETCH_TEXT_BYTES: usize = 256 * 1024;
/// Maximum number of redirects that are followed within one host for one page. With more redirects, the call fails with
/// `too_many_redirects`.
pub const FETCH_REDIRECTS: usize = 5;
