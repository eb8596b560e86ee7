//! Every limit of the tools, by name. No limit may be hidden in another file.

use std::time::Duration;

/// Maximum bytes of a path: the kernel's limit without the final NUL. A call with a longer path fails; an edit is
/// refused with `invalid_request`.
pub const PATH_BYTES: usize = 4095;
/// Maximum bytes of one name in a path: the limit of file systems. A call with a longer name fails; an edit is refused
/// with `invalid_request`.
pub const NAME_BYTES: usize = 255;
/// Maximum bytes of a file for `read_file`, so that it fits a model's context. A call for a larger file fails.
pub const READ_BYTES: u64 = 256 * 1024;
/// Maximum bytes of a written or edited file, so that a person can review it. A call with a larger file fails; an edit
/// is refused with `invalid_request`.
pub const FILE_BYTES: u64 = 2 * 1024 * 1024;
/// Maximum symbolic links followed for one path, equal to the kernel's limit. A call with more links fails.
pub const SYMLINKS: usize = 40;
/// Maximum entries that `list_directory` returns. Further entries appear only as a number.
pub const LISTING_ENTRIES: usize = 1000;
/// Maximum lines that `search_codebase` returns. Further lines are omitted, with a note.
pub const SEARCH_HITS: usize = 200;
/// Maximum characters of a line that `search_codebase` returns. A longer line is cut.
pub const SEARCH_LINE_CHARS: usize = 300;
/// Maximum bytes of a file that `search_codebase` reads. A larger file, which is seldom source code, is skipped.
pub const SEARCH_FILE_BYTES: u64 = 1024 * 1024;
/// Maximum bytes that one search reads. At this number of bytes the search ends, with a note.
pub const SEARCH_TOTAL_BYTES: u64 = 512 * 1024 * 1024;
/// Maximum bytes of a compiled search pattern. A call with a larger pattern fails.
pub const SEARCH_PATTERN_BYTES: usize = 1024 * 1024;
/// Maximum lines of a diff on a card. Further lines are cut, and the card shows their number.
pub const DIFF_LINES: usize = 2000;
/// Maximum bytes of a diff on a card, which is part of an event. Further lines are cut, and the card shows their
/// number.
pub const DIFF_BYTES: usize = 64 * 1024;
/// Time limit for the search for the shortest diff. After this time, a longer, equally correct diff is shown.
pub const DIFF_TIME: Duration = Duration::from_millis(500);

/// Maximum bytes of a command line. A call with a longer command line fails; an edit is refused with `invalid_request`.
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
/// Maximum resolved paths of one call. A call with more paths is treated as if it could reach any path: every `paths`
/// rule that asks or forbids applies.
pub const PLACES: usize = 64;
/// Maximum entries of a folder that are matched with a file pattern. With more entries, the pattern is treated as if it
/// could match any path.
pub const PLACES_ENTRIES: usize = 1000;
/// Maximum bytes that a command prints. With more output, the command is stopped.
pub const OUTPUT_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes of a command's output that are stored from its start. The omitted middle appears only as a number.
pub const OUTPUT_HEAD_BYTES: usize = 16 * 1024;
/// Bytes of a command's output that are stored from its end. The omitted middle appears only as a number.
pub const OUTPUT_TAIL_BYTES: usize = 32 * 1024;
/// Maximum bytes that a command of an external agent prints during its trial, on both streams. With more output, the
/// trial is discarded, and a person is asked about the call without a trial.
pub const CAPTURED_BYTES: usize = 128 * 1024;
/// Maximum names in the reason why a trial of an external agent is discarded. Further names are omitted.
pub const OUTSIDE_NAMED: usize = 3;
/// Maximum entries that are searched for files that a trial left outside the workspace. With more entries, the trial is
/// discarded.
pub const OUTSIDE_ENTRIES: usize = 10_000;
/// Maximum entries of a workspace that are searched for guarded files before and after a command. With more entries, no
/// command that may write runs.
pub const GUARD_ENTRIES: usize = 1_000_000;
/// Maximum guarded files of a workspace, and maximum sockets and named pipes of a workspace. Each guarded file, socket
/// or pipe needs two mounts. With more of them, no command that may write runs.
pub const GUARDED_NAMES: usize = 4096;
/// Maximum paths in the list of guarded paths that were set aside after a command. Further paths appear only as a
/// number.
pub const SET_ASIDE_NAMED: usize = 20;
/// Maximum names tried in a folder for a guarded path that is set aside. If all these names are in use, the path stays,
/// and later commands that may write need an approval.
pub const SET_ASIDE_NUMBERS: u32 = 2_000_000;
/// Time limit of the search for guarded files before a command, in addition to the command's timeout. After this time,
/// the command does not run.
pub const LOOK_TIME: Duration = Duration::from_mins(2);
/// Time limit to set guarded files aside after a command. After this time, later commands that may write need an
/// approval.
pub const SET_ASIDE_TIME: Duration = Duration::from_mins(5);
/// Maximum bytes that a command writes to disks in total. With more bytes, the command is stopped.
pub const WRITE_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// Interval between two counts of the bytes that a command has written.
pub const COUNT_BYTES_EVERY: Duration = Duration::from_millis(200);
/// Maximum scripts of one command line whose content an approval covers. A line with more scripts needs an approval
/// each time, because no session grant is offered.
pub const SCRIPTS: usize = 32;
/// Maximum bytes of a script that a card shows. The rest is cut; the digest covers the whole script.
pub const SCRIPT_SHOWN_BYTES: usize = 16 * 1024;
/// Time limit for the processes of a stopped command to end. After this time, the server stops waiting for the
/// processes.
pub const STOP_TIME: Duration = Duration::from_secs(10);
/// Time limit of one probe of the sandbox's level. After this time, the probe fails.
pub const PROBE_TIME: Duration = Duration::from_secs(10);
/// Maximum probes of one sandbox level. If all fail, the next lower level is probed.
pub const PROBES: usize = 3;
/// Interval after which a sandbox level below `full` is probed again, because a busy host can fail all probes.
pub const PROBE_AGAIN: Duration = Duration::from_mins(1);

/// Maximum paths of a trial that its card lists. Further paths appear only as a number.
pub const CARD_PATHS: usize = 500;
/// Maximum paths of the run's layer that a card lists. Further paths appear only as a number.
pub const CARD_LAYER_PATHS: usize = 20;
/// Approximate maximum bytes of all diffs on the card of a trial. Further files appear only as a number.
pub const CARD_DIFF_BYTES: usize = 128 * 1024;
/// Maximum bytes of a file with a diff on the card of a trial. A larger file appears without a diff.
pub const CARD_FILE_BYTES: u64 = 256 * 1024;
/// Maximum bytes of one file that a trial changes, before and after. With a larger file, the trial is discarded.
pub const CHANGED_FILE_BYTES: u64 = 128 * 1024 * 1024;
/// Maximum bytes of all files that a trial changes. With more bytes, the trial is discarded.
pub const CHANGED_BYTES: u64 = 1024 * 1024 * 1024;
/// Maximum paths that a trial changes, or that are searched for changes. With more paths, the trial is discarded, and
/// its result gives the reason.
pub const CHANGED_PATHS: usize = 100_000;
/// Maximum files, folders and links of a run's layer. A command that would exceed this number needs an approval
/// (`layer_full`). Its ignored files are then written to the workspace, and the approval covers these files too.
pub const LAYER_PATHS: usize = 200_000;
/// Maximum bytes of a run's layer: enough for a build and its tests. A command that would exceed this size needs an
/// approval (`layer_full`).
pub const LAYER_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// Maximum bytes of the layers of all runs on a node. A command that would exceed this size needs an approval
/// (`layer_full`). To free space, erase ended runs.
pub const LAYERS_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// Maximum paths of a workspace or layer that is copied because overlays are unavailable. With more paths, no trial
/// runs: the call needs an approval.
pub const COPIED_PATHS: usize = 20_000;
/// Maximum bytes of a workspace or layer that is copied because overlays are unavailable. Data that several files share
/// is counted for each file. With more bytes, no trial runs: the call needs an approval.
pub const COPIED_BYTES: u64 = 256 * 1024 * 1024;
/// Maximum bytes at the beginning of a commit that are searched for its message. If the message begins later, the
/// commit is shown as an object.
pub const GIT_OBJECT_BYTES: u64 = 64 * 1024;
/// Maximum characters of the first line of a commit's message. A longer line is cut.
pub const GIT_SUBJECT_CHARS: usize = 100;

/// Maximum concurrent processes of one command. With more processes, the command is stopped.
pub const PROCESSES: usize = 512;
/// Interval between two counts of a command's processes.
pub const WATCH_EVERY: Duration = Duration::from_millis(20);
/// Maximum processes of the sandbox's user (`RLIMIT_NPROC`), except for root. A further process does not start.
pub const RLIMIT_PROCESSES: u64 = 8192;
/// Maximum bytes of one file that a command writes (`RLIMIT_FSIZE`). The process receives `SIGXFSZ`.
pub const RLIMIT_FILE_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// Maximum open files of a process (`RLIMIT_NOFILE`). A further file does not open.
pub const RLIMIT_OPEN_FILES: u64 = 4096;
/// Maximum address space of a process (`RLIMIT_AS`). The limit is high, because runtimes reserve much address space
/// that they never use. Beyond the limit, allocations fail.
pub const RLIMIT_ADDRESS_BYTES: u64 = 64 * 1024 * 1024 * 1024;
/// Maximum entries of `/etc` that are searched for files that every user may read. Further entries are unreadable for
/// commands.
pub const ETC_ENTRIES: usize = 20_000;

/// Time limit to fetch a page, with redirects and body. After this time, the call fails with `timed_out`.
pub const FETCH_TIME: Duration = Duration::from_secs(30);
/// Time limit to look up a host, and to connect to it. After this time, the call fails with `timed_out`.
pub const FETCH_CONNECT_TIME: Duration = Duration::from_secs(10);
/// Maximum bytes of a page, both as received and after decompression. The rest is not read, and a note reports the cut.
pub const FETCH_BODY_BYTES: usize = 4 * 1024 * 1024;
/// Maximum bytes of a page's text for an agent. The rest appears only as a number.
pub const FETCH_TEXT_BYTES: usize = 256 * 1024;
/// Maximum redirects within one host for one page. With more redirects, the call fails with `too_many_redirects`.
pub const FETCH_REDIRECTS: usize = 5;
