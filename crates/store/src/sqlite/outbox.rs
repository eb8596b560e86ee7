//! The outbox in `SQLite`. The writer thread makes all changes. A folder has only one node. If an earlier node claimed
//! a delivery, that node has ended, so the delivery can be claimed again.

use holdshort_core::delivery::{Attempt, ChannelState, Delivery, DeliveryState};
use holdshort_core::id::DeliveryId;
use holdshort_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use tokio::sync::oneshot;

use super::column::{Key, Number, Read, Time};
use super::read::at_most;
use super::writer::Job;
use super::{Sqlite, list, rows};
use crate::cursor::DeliverySortKey;
use crate::journal::Error;
use crate::outbox::{
    Claim, DELIVERIES_AT_ONCE, DeliveryChange, DeliveryFilter, Failing, Outbox, SettleOutcome, Settled,
    pause_ms,
};
use crate::table::{Record, Value};
use crate::tables::{Cursor, Page};

/// Request about the outbox to the writer thread. Some requests contain the number of this node.
pub(super) enum OutboxRequest {
    Claim(u64, Claim),
    Settle(u64, Box<Settled>),
    Change(u64, DeliveryChange),
}

pub(super) enum OutboxReply {
    Claimed(Vec<Delivery>),
    Told(SettleOutcome),
    Changed(usize),
}

impl Sqlite {
    async fn ask(&self, asked: OutboxRequest) -> Result<OutboxReply, Error> {
        let (reply, answer) = oneshot::channel();
        self.submit(Job::Outbox { asked, reply }).await?;
        answer.await.map_err(|_| self.unanswered())?
    }
}

impl Outbox for Sqlite {
    async fn claim_deliveries(&self, claim: Claim) -> Result<Vec<Delivery>, Error> {
        // Usually no delivery is due. This read then saves a job for the writer and a commit.
        let asked = claim.clone();
        if self.pool.read(move |connection| due(connection, &asked)).await?.is_empty() {
            return Ok(Vec::new());
        }
        match self.ask(OutboxRequest::Claim(self.node.first_epoch, claim)).await? {
            OutboxReply::Claimed(claimed) => Ok(claimed),
            OutboxReply::Told(_) | OutboxReply::Changed(_) => Err(self.unanswered()),
        }
    }

    async fn settle_delivery(&self, settled: Settled) -> Result<SettleOutcome, Error> {
        match self.ask(OutboxRequest::Settle(self.node.first_epoch, Box::new(settled))).await? {
            OutboxReply::Told(told) => Ok(told),
            OutboxReply::Claimed(_) | OutboxReply::Changed(_) => Err(self.unanswered()),
        }
    }

    async fn change_deliveries(&self, change: DeliveryChange) -> Result<usize, Error> {
        match self.ask(OutboxRequest::Change(self.node.first_epoch, change)).await? {
            OutboxReply::Changed(count) => Ok(count),
            OutboxReply::Claimed(_) | OutboxReply::Told(_) => Err(self.unanswered()),
        }
    }

    async fn next_delivery(&self, channels: Vec<String>) -> Result<Option<Timestamp>, Error> {
        let node = self.node.first_epoch;
        self.pool.read(move |connection| next(connection, node, &channels)).await
    }

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, Error> {
        self.pool.look(|connection| rows::find(connection, id.as_str())).await
    }

    async fn deliveries(
        &self,
        filter: &DeliveryFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Delivery>, Error> {
        let after = after.map(|cursor| DeliverySortKey::decode(cursor)).transpose()?;
        let filter = filter.clone();
        self.pool.read(move |connection| list::deliveries(connection, &filter, after.as_ref(), limit)).await
    }

    async fn attempts(&self, id: &DeliveryId) -> Result<Vec<Attempt>, Error> {
        let id = id.clone();
        let of = " WHERE delivery = ? ORDER BY number";
        self.pool.read(move |connection| select(connection, of, [Value::Id(id.as_str())])).await
    }

    async fn channel_states(&self) -> Result<Vec<ChannelState>, Error> {
        self.pool.read(|connection| select(connection, " ORDER BY channel", [])).await
    }
}

pub(super) fn answer(connection: &Connection, asked: &OutboxRequest) -> Result<OutboxReply, Error> {
    match asked {
        OutboxRequest::Claim(node, claim) => self::claim(connection, *node, claim).map(OutboxReply::Claimed),
        OutboxRequest::Settle(node, settled) => settle(connection, *node, settled).map(OutboxReply::Told),
        OutboxRequest::Change(node, change) => {
            self::change(connection, *node, change).map(OutboxReply::Changed)
        }
    }
}

/// Selects rows from the table of the row type `R`. `rest` is the SQL after the name of the table.
fn select<R: Record, const N: usize>(
    connection: &Connection,
    rest: &str,
    values: [Value<'_>; N],
) -> Result<Vec<R>, Error> {
    let sql = format!("SELECT {} FROM {}{rest}", R::TABLE.list, R::TABLE.name);
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(params_from_iter(values), rows::read)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn due(connection: &Connection, claim: &Claim) -> Result<Vec<Delivery>, Error> {
    let Claim { channel, now, limit, sending, whole: _ } = claim;
    let rest = " INDEXED BY deliveries_due WHERE channel = ? AND next_at <= ?
                 AND NOT EXISTS (SELECT 1 FROM channels c
                                 WHERE c.channel = deliveries.channel AND c.disabled_at IS NOT NULL)
                 ORDER BY next_at, delivery LIMIT ?";
    let values = [
        Value::Text(channel),
        Value::Number(now.as_millis()),
        Value::Number(at_most(limit.saturating_add(sending.len()))),
    ];
    let mut due: Vec<Delivery> = select(connection, rest, values)?;
    due.retain(|each| !sending.contains(&each.delivery));
    due.truncate(*limit);
    Ok(due)
}

fn claim(connection: &Connection, node: u64, claim: &Claim) -> Result<Vec<Delivery>, Error> {
    let mut due = due(connection, claim)?;
    let mut update = connection.prepare_cached("UPDATE deliveries SET node = ?2 WHERE delivery = ?1")?;
    for delivery in &mut due {
        delivery.node = Some(node);
        update.execute(params![Key(delivery.delivery.as_str()), Number(node)])?;
    }
    Ok(due)
}

fn settle(connection: &Connection, node: u64, settled: &Settled) -> Result<SettleOutcome, Error> {
    let Settled { delivery, attempt } = settled;
    let found: Option<Delivery> = rows::find(connection, delivery.delivery.as_str())?;
    if found.is_none_or(|found| found.node != Some(node)) {
        return Ok(SettleOutcome::Taken);
    }
    rows::put_one(connection, delivery)?;
    if let Some(attempt) = attempt {
        rows::insert(connection, attempt)?;
        if settled.works() == Some(false) {
            let failing = Some(fail(connection, &delivery.channel, attempt.at)?);
            return Ok(SettleOutcome::Written { failing });
        }
        let sql = "DELETE FROM channels WHERE channel = ?1 AND disabled_at IS NULL";
        connection.prepare_cached(sql)?.execute([&delivery.channel])?;
    }
    Ok(SettleOutcome::Written { failing: None })
}

fn fail(connection: &Connection, channel: &str, at: Timestamp) -> Result<Failing, Error> {
    let sql = "INSERT INTO channels (channel, failing_since, failed_at) VALUES (?1, ?2, ?2)
               ON CONFLICT (channel) DO UPDATE SET
                   failing_ms = failing_ms + min(max(excluded.failed_at - failed_at, 0), ?3),
                   failed_at = max(failed_at, excluded.failed_at)
               RETURNING failing_since, failing_ms";
    let (since, Number(ms)) = connection
        .prepare_cached(sql)?
        .query_row(params![channel, Time(at), pause_ms()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Failing { since: Timestamp::from_millis(since), ms })
}

fn change(connection: &Connection, node: u64, change: &DeliveryChange) -> Result<usize, Error> {
    match change {
        DeliveryChange::Retry { delivery, now } => {
            let found: Option<Delivery> = rows::find(connection, delivery.as_str())?;
            let found = found.filter(|each| {
                each.state != DeliveryState::Delivered && !each.notice.is_empty() && each.node != Some(node)
            });
            let Some(mut found) = found else { return Ok(0) };
            found.state = DeliveryState::Waiting;
            (found.next_at, found.ended_at, found.node) = (Some(*now), None, None);
            rows::put_one(connection, &found)?;
            connection.execute("DELETE FROM channels WHERE channel = ?1", [&found.channel])?;
            Ok(1)
        }
        DeliveryChange::DropWaiting { why, now } => {
            let sql = "UPDATE deliveries
                       SET state = 'dropped', error = ?1, next_at = NULL, node = NULL, ended_at = ?2
                       WHERE next_at IS NOT NULL";
            Ok(connection.execute(sql, params![why, Time(*now)])?)
        }
        DeliveryChange::FailOld { before, why, now } => {
            // No delivery is due before its creation, so the condition on `created_at` excludes no matching delivery.
            // It only lets SQLite use an index that selects fewer other deliveries.
            let sql = "UPDATE deliveries
                       SET state = 'failed', error = ?1, next_at = NULL, node = NULL, ended_at = ?2
                       WHERE delivery IN (
                           SELECT delivery FROM deliveries INDEXED BY deliveries_waiting
                           WHERE created_at < ?3 AND next_at < ?3 AND node IS NOT ?4 LIMIT ?5)";
            let most = at_most(DELIVERIES_AT_ONCE);
            Ok(connection.execute(sql, params![why, Time(*now), Time(*before), Number(node), most])?)
        }
        DeliveryChange::Disable { channel, why, now } => {
            let sql = "INSERT INTO channels (channel, failing_since, failed_at, disabled_at, why)
                       VALUES (?1, ?2, ?2, ?2, ?3)
                       ON CONFLICT (channel) DO UPDATE SET disabled_at = excluded.disabled_at, why = excluded.why
                       WHERE channels.disabled_at IS NULL";
            Ok(connection.execute(sql, params![channel, Time(*now), why])?)
        }
        DeliveryChange::Forget { bodies, attempts } => {
            let gone = ended(connection, *attempts, "")?;
            for id in &gone {
                for table in ["attempts", "deliveries"] {
                    let sql = format!("DELETE FROM {table} WHERE delivery = ?1");
                    connection.prepare_cached(&sql)?.execute([Key(id.as_str())])?;
                }
            }
            let old = ended(connection, *bodies, "AND notice <> ''")?;
            for id in &old {
                for set in ["deliveries SET notice = ''", "attempts SET answer = NULL"] {
                    let sql = format!("UPDATE {set} WHERE delivery = ?1");
                    connection.prepare_cached(&sql)?.execute([Key(id.as_str())])?;
                }
            }
            Ok(gone.len() + old.len())
        }
    }
}

/// Returns at most one batch of the deliveries that ended before a time. `also` is an additional SQL condition.
fn ended(connection: &Connection, before: Timestamp, also: &str) -> Result<Vec<DeliveryId>, Error> {
    let sql = format!(
        "SELECT delivery FROM deliveries INDEXED BY deliveries_ended
         WHERE ended_at IS NOT NULL AND ended_at < ?1 {also} LIMIT ?2"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(params![Time(before), at_most(DELIVERIES_AT_ONCE)], |row| {
        row.get::<_, Read<DeliveryId>>(0).map(|Read(id)| id)
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn next(connection: &Connection, node: u64, channels: &[String]) -> Result<Option<Timestamp>, Error> {
    let sql = "SELECT next_at FROM deliveries INDEXED BY deliveries_due
               WHERE channel = ?1 AND next_at IS NOT NULL AND node IS NOT ?2
                   AND NOT EXISTS (SELECT 1 FROM channels c
                                   WHERE c.channel = deliveries.channel AND c.disabled_at IS NOT NULL)
               ORDER BY next_at LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut next: Option<i64> = None;
    for channel in channels {
        let found: Option<i64> =
            statement.query_row(params![channel, Number(node)], |row| row.get(0)).optional()?;
        next = next.into_iter().chain(found).min();
    }
    Ok(next.map(Timestamp::from_millis))
}
