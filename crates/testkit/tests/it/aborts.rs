//! Plays a story once for each place at which its server can be aborted, and follows each play to its end.

use std::cell::RefCell;
use std::time::Duration;

use holdshort_testkit::server::TestServer;

/// Plays the stops, four at a time, and returns how many came. Each player ends with the first stop that does not come:
/// the story was over before it. `play` returns true if its stop came.
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

/// Result of one look at a story.
pub(crate) enum StoryProgress {
    Over,
    /// Not over: no decision is needed now, or one was made.
    Goes,
    /// The server did not answer: it has ended.
    Gone,
}

impl StoryProgress {
    /// Converts an answer: true if the story is over, `None` if the server did not answer.
    pub(crate) fn from_answer(found: Option<bool>) -> Self {
        match found {
            Some(true) => Self::Over,
            Some(false) => Self::Goes,
            None => Self::Gone,
        }
    }
}

/// Looks until the story is over, and returns true if the server was aborted. A server that the environment `variable`
/// aborted is started again without it. Panics if the server ends twice, or if the story has no end.
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
