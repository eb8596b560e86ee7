//! Pages of lists. A page has a maximum number of items and a maximum number of bytes.

use std::future::Future;

use holdshort_protocol::{Code, List};
use holdshort_store::Page;
use serde::Serialize;

use crate::limits::PAGE_BYTES;
use crate::problem::Answer;

/// Converts the rows of a list to items one by one until the page is full. A page that exceeds the maximum number of
/// bytes ends early. The cursor is then read again, so that the next page begins after the last item.
pub async fn show<R, T, Read, Shown, See, Seen>(limit: usize, read: Read, mut see: See) -> Answer<List<T>>
where
    T: Serialize,
    Read: Fn(usize) -> Shown,
    Shown: Future<Output = Result<Page<R>, holdshort_store::Error>>,
    See: FnMut(R) -> Seen,
    Seen: Future<Output = Answer<Option<T>>>,
{
    let page = read(limit).await?;
    let mut next_cursor = page.next;
    let mut items = Vec::new();
    let mut bytes = 0;
    for (i, row) in page.items.into_iter().enumerate() {
        if bytes > PAGE_BYTES {
            next_cursor = read(i).await?.next;
            break;
        }
        let seen = match see(row).await {
            // The row of a damaged run is omitted, so that the list still contains all undamaged runs.
            Err(refused) if refused.code() == Code::JournalDamaged => {
                tracing::error!(
                    detail = %refused.0.detail,
                    "a damaged run is left out of a list: run `holdshort audit verify`"
                );
                None
            }
            seen => seen?,
        };
        if let Some(item) = seen {
            bytes += serde_json::to_vec(&item).map_or(0, |bytes| bytes.len());
            items.push(item);
        }
    }
    Ok(List { items, next_cursor })
}
