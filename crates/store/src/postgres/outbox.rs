//! The outbox in PostgreSQL. All nodes take the deliveries that they send from one table. When the lease of a node has
//! expired (by the clock of the database), other nodes can claim its deliveries.

use std::fmt::Write;

use holdshort_core::delivery::{Attempt, ChannelState, Delivery};
use holdshort_core::id::DeliveryId;
use holdshort_core::time::Timestamp;

use super::column::{at_most, big, get, maybe_number, time};
use super::{Postgres, list, rows};
use crate::cursor::DeliverySortKey;
use crate::journal::Error;
use crate::outbox::{
    Claim, DELIVERIES_AT_ONCE, DeliveryChange, DeliveryFilter, Failing, Outbox, SettleOutcome, Settled,
    pause_ms,
};
use crate::table::Record;
use crate::tables::{Cursor, Page};

/// SQL array of the nodes that are alive and may therefore be sending deliveries.
const ALIVE: &str = "ARRAY(SELECT n.node FROM nodes n WHERE n.alive_until > clock_timestamp())";
const NOT_DISABLED: &str = "NOT EXISTS (SELECT FROM channels c
                                        WHERE c.channel = deliveries.channel AND c.disabled_at IS NOT NULL)";

impl Outbox for Postgres {
    async fn claim_deliveries(&self, claim: Claim) -> Result<Vec<Delivery>, Error> {
        let Claim { channel, now, limit, sending, whole } = claim;
        // With `whole`, a second node waits for the first one and then finds all deliveries claimed. A node whose lease
        // has expired claims nothing, because other nodes could claim the same deliveries. This also applies if the
        // node has not noticed the expiry yet.
        let skip = if whole { "" } else { " SKIP LOCKED" };
        let columns: String = Delivery::TABLE.columns.iter().fold(String::new(), |mut list, column| {
            let comma = if list.is_empty() { "" } else { ", " };
            let _ = write!(list, "{comma}d.{column}");
            list
        });
        let sql = format!(
            "UPDATE deliveries d SET node = $1 FROM (
                 SELECT delivery FROM deliveries
                 WHERE channel = $2 AND next_at <= $3 AND {NOT_DISABLED} AND $1 = ANY ({ALIVE})
                     AND delivery <> ALL ($4)
                     AND (node IS NULL OR node = $1 OR node <> ALL ({ALIVE}))
                 ORDER BY next_at, delivery LIMIT $5 FOR UPDATE{skip}
             ) due WHERE d.delivery = due.delivery RETURNING {columns}"
        );
        let sending: Vec<&str> = sending.iter().map(DeliveryId::as_str).collect();
        let node = big(self.node()?.id);
        let found =
            self.pool.query(&sql, &[&node, &channel, &now.as_millis(), &sending, &at_most(limit)]).await?;
        let mut claimed: Vec<Delivery> = found.iter().map(rows::read).collect::<Result<_, _>>()?;
        claimed.sort_by(|one, other| (one.next_at, &one.delivery).cmp(&(other.next_at, &other.delivery)));
        Ok(claimed)
    }

    async fn settle_delivery(&self, settled: Settled) -> Result<SettleOutcome, Error> {
        let works = settled.works();
        let Settled { delivery, attempt } = settled;
        let set: Vec<String> =
            Delivery::TABLE.columns[1..].iter().map(|column| format!("{column} = new.{column}")).collect();
        // One statement, so that either all changes are written or none.
        let sql = format!(
            "WITH settled AS (
                 UPDATE deliveries d SET {set} FROM jsonb_populate_record(NULL::deliveries, $1) new
                 WHERE d.delivery = new.delivery AND d.node = $2 RETURNING d.channel
             ), tried AS (
                 INSERT INTO attempts ({list})
                 SELECT {list} FROM settled, jsonb_populate_record(NULL::attempts, $3) new
                 WHERE new.delivery IS NOT NULL
             ), working AS (
                 DELETE FROM channels c USING settled
                 WHERE c.channel = settled.channel AND c.disabled_at IS NULL AND $4
             ), failing AS (
                 INSERT INTO channels AS c (channel, failing_since, failed_at)
                 SELECT channel, $5::bigint, $5::bigint FROM settled WHERE $6
                 ON CONFLICT (channel) DO UPDATE SET
                     failing_ms = c.failing_ms + least(greatest(excluded.failed_at - c.failed_at, 0), $7::bigint),
                     failed_at = greatest(c.failed_at, excluded.failed_at)
                 RETURNING failing_since, failing_ms
             )
             SELECT failing_since, failing_ms FROM settled LEFT JOIN failing ON true",
            set = set.join(", "),
            list = Attempt::TABLE.list,
        );
        let tried = attempt.as_ref().map_or_else(|| serde_json::json!({}), rows::json_of);
        let at = attempt.as_ref().map(|attempt| attempt.at.as_millis());
        let (node, row) = (big(self.node()?.id), rows::json_of(&delivery));
        let (is_good, is_bad) = (works == Some(true), works == Some(false));
        let told = self.pool.query(&sql, &[&row, &node, &tried, &is_good, &at, &is_bad, &pause_ms()]).await?;
        let Some(row) = told.first() else { return Ok(SettleOutcome::Taken) };
        let failing = match maybe_number(row, 1)? {
            Some(ms) => Some(Failing { since: time(row, 0)?, ms }),
            None => None,
        };
        Ok(SettleOutcome::Written { failing })
    }

    async fn change_deliveries(&self, change: DeliveryChange) -> Result<usize, Error> {
        let most = at_most(DELIVERIES_AT_ONCE);
        let changed = match change {
            DeliveryChange::Retry { delivery, now } => {
                let sql = format!(
                    "WITH retried AS (
                         UPDATE deliveries SET state = 'waiting', next_at = $2, ended_at = NULL, node = NULL
                         WHERE delivery = $1 AND state <> 'delivered' AND notice <> ''
                             AND (node IS NULL OR node <> ALL ({ALIVE}))
                         RETURNING channel
                     ), enabled AS (DELETE FROM channels c USING retried WHERE c.channel = retried.channel)
                     SELECT FROM retried"
                );
                self.pool.query(&sql, &[&delivery.as_str(), &now.as_millis()]).await?
            }
            DeliveryChange::DropWaiting { why, now } => {
                let sql = "UPDATE deliveries
                           SET state = 'dropped', error = $1, next_at = NULL, node = NULL, ended_at = $2
                           WHERE next_at IS NOT NULL RETURNING 1";
                self.pool.query(sql, &[&why, &now.as_millis()]).await?
            }
            DeliveryChange::FailOld { before, why, now } => {
                // No delivery is due before its creation, so the condition on `created_at` excludes no matching
                // delivery. It only lets the database use an index that selects fewer other deliveries.
                let sql = format!(
                    "UPDATE deliveries
                     SET state = 'failed', error = $1, next_at = NULL, node = NULL, ended_at = $2
                     WHERE delivery IN (
                         SELECT delivery FROM deliveries
                         WHERE created_at < $3 AND next_at < $3 AND (node IS NULL OR node <> ALL ({ALIVE}))
                         LIMIT $4 FOR UPDATE SKIP LOCKED)
                     RETURNING 1"
                );
                self.pool.query(&sql, &[&why, &now.as_millis(), &before.as_millis(), &most]).await?
            }
            DeliveryChange::Disable { channel, why, now } => {
                let sql = "INSERT INTO channels AS c (channel, failing_since, failed_at, disabled_at, why)
                           VALUES ($1, $2, $2, $2, $3)
                           ON CONFLICT (channel) DO UPDATE SET disabled_at = excluded.disabled_at, why = excluded.why
                           WHERE c.disabled_at IS NULL RETURNING 1";
                self.pool.query(sql, &[&channel, &now.as_millis(), &why]).await?
            }
            DeliveryChange::Forget { bodies, attempts } => {
                let sql = "WITH gone AS (
                               SELECT delivery FROM deliveries WHERE ended_at < $2
                               ORDER BY delivery LIMIT $3 FOR UPDATE SKIP LOCKED
                           ), old AS (
                               SELECT delivery FROM deliveries WHERE ended_at < $1 AND ended_at >= $2 AND notice <> ''
                               ORDER BY delivery LIMIT $3 FOR UPDATE SKIP LOCKED
                           ), tried AS (
                               DELETE FROM attempts a USING gone WHERE a.delivery = gone.delivery
                           ), sent AS (
                               DELETE FROM deliveries d USING gone WHERE d.delivery = gone.delivery RETURNING 1
                           ), answered AS (
                               UPDATE attempts a SET answer = NULL FROM old WHERE a.delivery = old.delivery
                           ), told AS (
                               UPDATE deliveries d SET notice = '' FROM old WHERE d.delivery = old.delivery RETURNING 1
                           )
                           SELECT 1 FROM sent UNION ALL SELECT 1 FROM told";
                self.pool.query(sql, &[&bodies.as_millis(), &attempts.as_millis(), &most]).await?
            }
        };
        Ok(changed.len())
    }

    async fn next_delivery(&self, channels: Vec<String>) -> Result<Option<Timestamp>, Error> {
        let sql = format!(
            "SELECT min(next_at) FROM unnest($1::text[]) AS asked (channel), LATERAL (
                 SELECT next_at FROM deliveries
                 WHERE deliveries.channel = asked.channel AND next_at IS NOT NULL AND {NOT_DISABLED}
                     AND (node IS NULL OR node <> ALL ({ALIVE}))
                 ORDER BY next_at LIMIT 1) first"
        );
        let found = self.pool.read(&sql, &[&channels]).await?;
        let next: Option<i64> = found.first().map_or(Ok(None), |row| get(row, 0))?;
        Ok(next.map(Timestamp::from_millis))
    }

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, Error> {
        rows::find(&self.pool, id.as_str()).await
    }

    async fn deliveries(
        &self,
        filter: &DeliveryFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Delivery>, Error> {
        let after = after.map(|cursor| DeliverySortKey::decode(cursor)).transpose()?;
        list::deliveries(&self.pool, filter, after.as_ref(), limit).await
    }

    async fn attempts(&self, id: &DeliveryId) -> Result<Vec<Attempt>, Error> {
        let sql = format!("SELECT {} FROM attempts WHERE delivery = $1 ORDER BY number", Attempt::TABLE.list);
        self.pool.read(&sql, &[&id.as_str()]).await?.iter().map(rows::read).collect()
    }

    async fn channel_states(&self) -> Result<Vec<ChannelState>, Error> {
        let sql = format!("SELECT {} FROM channels ORDER BY channel", ChannelState::TABLE.list);
        self.pool.read(&sql, &[]).await?.iter().map(rows::read).collect()
    }
}
