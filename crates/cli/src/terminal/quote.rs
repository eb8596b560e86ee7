//! Quotes text from an agent: escaped, wrapped, behind a vertical bar, and cut to a maximum length.

use holdshort_protocol::plain;

use super::paint::Paint;

/// Maximum length to which a text is cut when it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cap {
    Lines(usize),
    /// The whole text is printed, because the person asked for the whole text.
    None,
}

/// Returns the lines of a text, each with a vertical bar in front of it. `lead` is printed before the first line.
pub(crate) fn quote(text: &str, lead: &str, cap: Cap, paint: Paint) -> Vec<String> {
    let indent = " ".repeat(console::measure_text_width(lead));
    let bar = paint.dim("│");
    let room = paint.width.saturating_sub(indent.len() + 3).max(20);
    let escaped = plain::text(text.trim_matches('\n'));
    let mut lines: Vec<String> = Vec::new();
    for paragraph in escaped.lines() {
        let paragraph = paragraph.replace('\t', "    ");
        if console::measure_text_width(&paragraph) <= room {
            lines.push(paragraph);
        } else {
            let options = textwrap::Options::new(room)
                .subsequent_indent(own_indent(&paragraph))
                .word_splitter(textwrap::WordSplitter::NoHyphenation);
            lines.extend(textwrap::wrap(&paragraph, options).into_iter().map(std::borrow::Cow::into_owned));
        }
    }
    if let Cap::Lines(cap) = cap
        && lines.len() > cap + 1
    {
        let more = lines.len() - cap;
        lines.truncate(cap);
        lines.push(paint.dim(&format!("… {more} more lines")));
    }
    let mut lead = lead.to_owned();
    lines
        .into_iter()
        .map(|line| {
            let line = format!("{lead} {bar} {line}");
            lead.clone_from(&indent);
            line.trim_end().to_owned()
        })
        .collect()
}

/// Returns the spaces at the beginning of a paragraph, with which its wrapped lines are indented too.
fn own_indent(paragraph: &str) -> &str {
    let blank = paragraph.len() - paragraph.trim_start_matches(' ').len();
    &paragraph[..blank.min(20)]
}

/// Returns the first line of a text, truncated to `room` columns.
pub(crate) fn brief(text: &str, room: usize) -> String {
    let first = text.trim().lines().next().unwrap_or_default();
    let escaped = plain::line(first);
    console::truncate_str(&escaped, room.max(8), "…").into_owned()
}
