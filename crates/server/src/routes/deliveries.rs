//! Deliveries of notifications over channels: list, read, retry.

use axum::Json;
use holdshort_core::delivery::ChannelState;
use holdshort_core::id::DeliveryId;
use holdshort_protocol::{Channel, Delivery, List};
use holdshort_store::{DeliveryFilter, Outbox};
use holdshort_web::auth::Caller;
use holdshort_web::deliveries::{find_delivery, retry as retry_delivery};
use holdshort_web::problem::Answer;
use holdshort_web::query::{DeliveriesQuery, Id, Params, id, limit};
use holdshort_web::view;

use crate::openapi::{Lists, ReadsOne, RetriesDelivery};

/// List deliveries to channels, newest first.
#[utoipa::path(
    get, path = "/v1/deliveries", tag = "channels", operation_id = "list_deliveries",
    params(DeliveriesQuery),
    responses((status = 200, description = "A page of deliveries", body = List<Delivery>), Lists)
)]
pub(crate) async fn list(
    caller: Caller,
    Params(query): Params<DeliveriesQuery>,
) -> Answer<Json<List<Delivery>>> {
    let filter = DeliveryFilter {
        channel: query.channel,
        state: query.state.map(view::delivery::state),
        interrupt: id("interrupt", query.interrupt.as_deref())?,
    };
    let read = |limit| caller.app.journal().deliveries(&filter, query.cursor.as_ref(), limit);
    let see = async |row| Ok(Some(view::delivery::delivery(&row, &[])));
    Ok(Json(view::page::show(limit(query.limit)?, read, see).await?))
}

/// Read a delivery with its attempts.
#[utoipa::path(
    get, path = "/v1/deliveries/{id}", tag = "channels", operation_id = "read_delivery",
    params(("id" = String, Path, example = "dlv_01k6f0000000000000000000dd")),
    responses((status = 200, description = "The delivery", body = Delivery), ReadsOne)
)]
pub(crate) async fn read(caller: Caller, Id(id): Id<DeliveryId>) -> Answer<Json<Delivery>> {
    let row = find_delivery(&caller.app, &id).await?;
    Ok(Json(view::delivery::delivery(&row, &caller.app.journal().attempts(&id).await?)))
}

/// Retry a delivery now.
///
/// The delivery keeps its id. The server makes the remaining attempts, or one attempt if none remain. A disabled
/// channel is enabled again. A delivered notification is not sent again.
#[utoipa::path(
    post, path = "/v1/deliveries/{id}/retry", tag = "channels", operation_id = "retry_delivery",
    params(("id" = String, Path, example = "dlv_01k6f0000000000000000000dd")),
    responses((status = 200, description = "The delivery, waiting to be sent", body = Delivery), RetriesDelivery)
)]
pub(crate) async fn retry(caller: Caller, Id(id): Id<DeliveryId>) -> Answer<Json<Delivery>> {
    let row = retry_delivery(&caller, &id).await?;
    Ok(Json(view::delivery::delivery(&row, &caller.app.journal().attempts(&id).await?)))
}

/// List the channels of this server and their states.
#[utoipa::path(
    get, path = "/v1/channels", tag = "channels", operation_id = "list_channels",
    responses((status = 200, description = "All channels", body = List<Channel>), Lists)
)]
pub(crate) async fn channels(caller: Caller) -> Answer<Json<List<Channel>>> {
    let states = caller.app.journal().channel_states().await?;
    let of = |name: &str| states.iter().find(|state: &&ChannelState| state.channel == name);
    let channels = caller.app.driver.channels();
    let items = channels.iter().map(|channel| view::delivery::channel(channel, of(&channel.name)));
    Ok(Json(List { items: items.collect(), next_cursor: None }))
}
