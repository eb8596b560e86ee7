//! Plays a story once for each place where its server can be aborted, and sees each of them through to its end.

use std::cell::RefCell;
use std::time::Duration;

use holdshort_testkit::server::TestServer;

/// Plays stop after stop, four at a time; each player goes on until one of its stops has not come, as the story was over
/// before. `play` says whether its stop came. How many came.
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

/// What a look at a story found.
pub(crate) enum Look {
    Over,
    /// Nothing to decide right now, or decided.
    Goes,
    /// No answer: the server is gone.
    Gone,
}

impl Look {
    /// Whether it is over; `None`: no answer.
    pub(crate) fn of(found: Option<bool>) -> Self {
        match found {
            Some(true) => Self::Over,
            Some(false) => Self::Goes,
            None => Self::Gone,
        }
    }
}

/// Looks again and again until the story is over. A server that was aborted, as this variable of its environment wants,
/// is started again without it. Whether it was aborted; panics where that happens twice, or the story has no end.
pub(crate) async fn see_through(
    server: &mut TestServer,
    variable: &str,
    what: &str,
    mut look: impl AsyncFnMut(&TestServer) -> Look,
) -> bool {
    let mut aborted = false;
    for _ in 0..6_000 {
        match look(server).await {
            Look::Over => return aborted,
            Look::Goes => tokio::time::sleep(Duration::from_millis(10)).await,
            Look::Gone => {
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
