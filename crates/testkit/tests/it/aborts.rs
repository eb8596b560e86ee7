//! Plays a scenario once for each point at which its server can be aborted, and continues each play to the end of the
//! scenario.

use std::cell::RefCell;
use std::time::Duration;

use holdshort_testkit::server::TestServer;

/// Plays a scenario once for each of `stops`, the points at which its server is aborted, four at a time. Returns the
/// number of points that were reached. `play` returns true if its point was reached. If a scenario ends before its
/// point, one of the four players ends.
pub(crate) async fn play_each<S>(stops: impl Iterator<Item = S>, play: impl AsyncFn(S) -> bool) -> usize {
    let stops = RefCell::new(stops);
    let next = || stops.borrow_mut().next();
    let player = async || {
        let mut came = 0;
        while let Some(stop) = next() {
            if !play(stop).await {
                break;
            }
            came += 1;
        }
        came
    };
    let (a, b, c, d) = tokio::join!(player(), player(), player(), player());
    a + b + c + d
}

/// Result of one step of a scenario that a test plays against a server.
pub(crate) enum StoryProgress {
    Over,
    /// The scenario is not over. The step made a decision, or no decision was needed.
    Goes,
    /// The server did not respond to the step, so it has ended.
    Gone,
}

impl StoryProgress {
    /// Converts the result of a step: true means that the scenario is over, and `None` means that the server did not
    /// respond.
    pub(crate) fn from_answer(found: Option<bool>) -> Self {
        match found {
            Some(true) => Self::Over,
            Some(false) => Self::Goes,
            None => Self::Gone,
        }
    }
}

/// Steps through a scenario until it is over, and returns true if the server was aborted. If the environment variable
/// `variable` aborted the server, the server is started again without that variable. Panics if the server ends twice,
/// or if the scenario does not end.
pub(crate) async fn play_until_over(
    server: &mut TestServer,
    variable: &str,
    what: &str,
    mut look: impl AsyncFnMut(&TestServer) -> StoryProgress,
) -> bool {
    let mut aborted = false;
    for _ in 0..6_000 {
        match look(server).await {
            StoryProgress::Over => return aborted,
            StoryProgress::Goes => tokio::time::sleep(Duration::from_millis(10)).await,
            StoryProgress::Gone => {
                assert!(!aborted, "{what}: it ended again\n{}", server.stderr());
                server.wait_until_ended().await;
                aborted = true;
                server.change(|setup| setup.env(variable, "0"));
                server.start().await;
            }
        }
    }
    panic!("{what}: it does not end\n{}", server.stderr());
}
