//! Sections of the report that list missing data with the reasons: files that were not read, and numbers that could not
//! be computed.

use std::fmt::Write;

use holdshort_presentation::markup::line;

use crate::report::model::{NotComputed, Unread};
use crate::report::page::{Contents, open, table_head};

pub(crate) fn unread(out: &mut String, unread: Option<&Unread>, contents: &mut Contents) {
    let Some(unread) = unread else { return };
    open(out, "unread", "Data that was not read", contents);
    let _ = writeln!(
        out,
        "<p class=\"by\">{} Unread data is not part of the metrics: a day without its recording looks like a \
         rest day.</p>",
        line(&unread.told)
    );
    if !unread.rows.is_empty() {
        table_head(out, "Data that was not read", &["File", "What", "How often", "What to do"]);
    }
    for row in &unread.rows {
        let how = if row.is_refused { "not read" } else { "read in part" };
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}: {} <code>{}</code></td><td class=\"r\">{}</td><td class=\"how\">{}</td></tr>",
            line(&row.place),
            if row.needs_nothing { "note" } else { how },
            line(&row.message),
            line(&row.code),
            row.places,
            line(&row.what_to_do)
        );
    }
    if !unread.rows.is_empty() {
        out.push_str("</tbody></table></div>\n");
    }
    if let Some(more) = &unread.more {
        let _ = writeln!(out, "<p class=\"foot\">{}</p>", line(more));
    }
    out.push_str("</section>\n");
}

pub(crate) fn not_computed(out: &mut String, rows: &[NotComputed], contents: &mut Contents) {
    if rows.is_empty() {
        return;
    }
    open(out, "not-computed", "Metrics that were not computed", contents);
    table_head(out, "Metrics that were not computed", &["What", "Why not"]);
    for row in rows {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td class=\"how\">{}</td></tr>",
            line(&row.label),
            line(&row.why)
        );
    }
    out.push_str("</tbody></table></div>\n</section>\n");
}
