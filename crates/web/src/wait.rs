//! Long polls: a request waits until the interrupt is resolved, or until a time limit.

use std::time::Duration;

use holdshort_protocol::{Code, Interrupt};

use crate::app::App;
use crate::auth::Caller;
use crate::interrupt_ref::InterruptRef;
use crate::problem::{Answer, Refused};
use crate::view;
use crate::view::assignment::Reader;

/// Waits until an interrupt is resolved, and returns the resolved interrupt. After the time limit, or when the server
/// stops, returns the open interrupt. A waiting request uses only a receiver and a timer, which are dropped if the
/// client disconnects.
pub async fn for_resolution(caller: &Caller, asked: &InterruptRef, seconds: u16) -> Answer<Interrupt> {
    let app = &*caller.app;
    let reader = caller.reader().await?;
    if seconds == 0 {
        return view::now::interrupt(app, asked, &reader).await;
    }
    if let Some(resolved) = resolved(app, asked, &reader).await? {
        return Ok(resolved);
    }
    let Ok(_permit) = app.polls.try_acquire() else { return Err(Refused::from_code(Code::TooManyStreams)) };
    // The watch begins before the interrupt is read again, so that no commit between the read and the watch is missed.
    let mut commits = app.driver.watch(&asked.run);
    let over = tokio::time::sleep(Duration::from_secs(seconds.into()));
    let ended = caller.ended();
    tokio::pin!(over, ended);
    loop {
        if let Some(resolved) = resolved(app, asked, &reader).await? {
            return Ok(resolved);
        }
        tokio::select! {
            biased;
            () = &mut ended => return Err(Refused::from_code(Code::AccessEnded)),
            Ok(()) = commits.changed() => {}
            // Another node may have written the resolution without notifying this node, so the interrupt is read
            // again after the time limit.
            () = &mut over => break,
            () = app.stopped() => break,
            else => break,
        }
    }
    view::now::interrupt(app, asked, &reader).await
}

/// Returns the interrupt if it is resolved. If its run is in memory, the store is not read. Each change to a run in
/// memory wakes the waiting requests, and the resolution of an interrupt never changes.
async fn resolved(app: &App, asked: &InterruptRef, reader: &Reader) -> Answer<Option<Interrupt>> {
    let InterruptRef { run, interrupt: id } = asked;
    if let Some(run) = app.driver.glance(run)
        && let Some(interrupt) = run.interrupts.get(id)
    {
        return Ok(if interrupt.is_open() { None } else { view::interrupt::from_run(&run, id, reader) });
    }
    let row = app.interrupt_row(id).await?;
    if row.open { Ok(None) } else { view::interrupt::from_row(app, &row, reader).await.map(Some) }
}
