//! Carries out the frames of the client, one after another. If a frame is refused, the response is an error, and the
//! connection stays open.

use axum::extract::ws::WebSocket;
use futures::stream::SplitStream;
use holdshort_core::rights::Permission;
use holdshort_protocol::frame::{ClientFrame, Decide, Ping, ServerFrame, Tell, Unsubscribe};
use holdshort_web::auth::Caller;
use holdshort_web::decide;
use holdshort_web::limits::OVER_RATE_FRAMES;
use holdshort_web::needs::any;
use holdshort_web::pace::Pace;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::websocket::End;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::deliver::Order;
use super::{incoming, subscribe};
use crate::routes::steer;

pub(super) async fn all(
    incoming: &mut SplitStream<WebSocket>,
    caller: &Caller,
    pace: Pace,
    orders: mpsc::Sender<Order>,
) -> End {
    let mut over_rate = 0;
    loop {
        let received = match incoming::next(incoming, pace.silence).await {
            Ok(received) => received,
            Err(end) => return end,
        };
        let done = match (caller.charge(), received.frame) {
            (Err(refused), _) if over_rate == OVER_RATE_FRAMES => return End::OverRate(refused),
            (Err(refused), _) => {
                over_rate += 1;
                Err(refused)
            }
            // The future is boxed only while a frame is carried out, so that an idle socket uses little memory.
            (Ok(()), Ok(frame)) => {
                over_rate = 0;
                Box::pin(carry_out(caller, frame)).await
            }
            (Ok(()), Err(refused)) => Err(refused),
        };
        let order = done.unwrap_or_else(|refused| Order::refuse(received.id, refused));
        // A client that sends frames but does not read the responses is a slow reader. It is disconnected after the
        // time limit of slow readers.
        match timeout(pace.patience, orders.send(order)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return End::Left,
            Err(_) => return End::Behind,
        }
    }
}

async fn carry_out(caller: &Caller, frame: ClientFrame) -> Answer<Order> {
    match frame {
        ClientFrame::Hello(_) => {
            Err(Refused::invalid_at("/type", "must not be `hello`: the connection is already authenticated"))
        }
        ClientFrame::Subscribe(wish) => subscribe::to(caller, wish).await,
        ClientFrame::Unsubscribe(Unsubscribe { id }) => Ok(Order::Unfollow { id }),
        ClientFrame::Decide(decide) => decided(caller, decide).await.map(Order::say),
        ClientFrame::Message(tell) => send_message(caller, tell).await.map(Order::say),
        ClientFrame::Ping(Ping { id }) => Ok(Order::say(ServerFrame::Pong { id })),
    }
}

async fn decided(caller: &Caller, decide: Decide) -> Answer<ServerFrame> {
    let id = decide.id.clone();
    let interrupt = decide.interrupt.parse().map_err(|_| Refused::not_found("interrupt"))?;
    let asked = caller.app.find_interrupt(&interrupt).await?;
    let Caller { actor, .. } = caller.authorize(any(Permission::Decide))?;
    caller.count_decision()?;
    let interrupt = decide::decide(&caller.app, &asked, actor, decide.decision()).await?;
    Ok(ServerFrame::Decided { id, interrupt: Box::new(interrupt) })
}

async fn send_message(caller: &Caller, tell: Tell) -> Answer<ServerFrame> {
    let Tell { id, run, text } = tell;
    let caller = caller.authorize(any(Permission::Steer))?;
    let run = run.parse().map_err(|_| Refused::not_found("run"))?;
    caller.run(&run).await?;
    let run = steer::send_message(caller, &run, text).await?;
    Ok(ServerFrame::Told { id, run: Box::new(run) })
}
