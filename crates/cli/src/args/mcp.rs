//! Arguments of `mcp`.

use std::path::PathBuf;
use std::time::Duration;

use holdshort_workflow::duration;

#[derive(Debug, clap::Args)]
pub(crate) struct Mcp {
    /// File with the agent key. Only its owner may have permission to read it [default: the environment variable
    /// `HOLDSHORT_TOKEN`, or the agent token of the data folder].
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// Time after which a call returns `pending`. Must be shorter than the client's time limit, which is often 60 s.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "45s")]
    pub pending_after: Duration,
    /// Time after which the tool `permission` denies a call that nobody has decided.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "1h")]
    pub permission_wait: Duration,
    /// Time after which a request expires, also if its client has gone away.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "1d")]
    pub expires_in: Duration,
}

fn time(text: &str) -> Result<Duration, String> {
    let millis = duration::parse(text);
    millis
        .map(Duration::from_millis)
        .ok_or_else(|| "is not a duration such as `30s`, `1h` or `7d`".to_owned())
}
