//! Splits a reply into blocks, sentences and code. Parses the Markdown that models typically write.

/// Block of a text: a heading, a paragraph, a list item, a quotation or code.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// Block that is a heading: `# …`.
    Heading(String),
    /// Block that is a paragraph. `bold` is true if the whole paragraph is emphasised. Headings are often written like
    /// this.
    Paragraph {
        text: String,
        bold: bool,
    },
    /// Block that is an item of a list.
    Item(String),
    Quote(String),
    /// Block of fenced or indented code, or a table.
    Code,
}

/// Consecutive lines: either all in one code fence, or all outside of code fences.
pub(super) enum Segment<'t> {
    Prose(Vec<&'t str>),
    Fenced(Vec<&'t str>),
}

/// Removes the thoughts of a reasoning model from its reply, because they do not belong to the result.
pub(super) fn strip_thoughts(text: &str) -> String {
    let mut rest = text;
    if let (None, Some((_, after))) = (rest.find("<think>"), rest.split_once("</think>")) {
        rest = after;
    }
    let mut said = String::new();
    while let Some((before, after)) = rest.split_once("<think>") {
        let Some((_, after)) = after.split_once("</think>") else { break };
        said.push_str(before);
        rest = after;
    }
    said + rest
}

/// Splits a text at code fences. A code fence without an end continues to the end of the text.
pub(super) fn segments(text: &str) -> Vec<Segment<'_>> {
    let mut segments = Vec::new();
    let (mut prose, mut fenced): (Vec<&str>, Option<(&str, Vec<&str>)>) = (Vec::new(), None);
    for line in text.lines() {
        let trimmed = line.trim();
        let fence = ["```", "~~~"].into_iter().find(|fence| trimmed.starts_with(fence));
        match (&mut fenced, fence) {
            (Some((open, body)), Some(close))
                if *open == close && trimmed.trim_end_matches(&close[..1]).is_empty() =>
            {
                segments.push(Segment::Fenced(std::mem::take(body)));
                fenced = None;
            }
            (Some((_, body)), _) => body.push(line),
            (None, Some(open)) => {
                segments.push(Segment::Prose(std::mem::take(&mut prose)));
                // The whole code fence is on one line: ```{"tool": …}```.
                let within = trimmed.trim_start_matches(&open[..1]);
                match within.strip_suffix(open) {
                    Some(within) => segments.push(Segment::Fenced(vec![within])),
                    None => fenced = Some((open, Vec::new())),
                }
            }
            (None, None) => prose.push(line),
        }
    }
    segments.push(match fenced {
        Some((_, body)) => Segment::Fenced(body),
        None => Segment::Prose(prose),
    });
    segments
}

pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    for segment in segments(text) {
        match segment {
            Segment::Prose(lines) => add_prose(&mut blocks, &lines),
            Segment::Fenced(_) => blocks.push(Block::Code),
        }
    }
    blocks
}

fn add_prose(blocks: &mut Vec<Block>, lines: &[&str]) {
    let mut begins = true;
    for line in lines {
        let text = line.trim();
        let indented = line.starts_with("    ") || line.starts_with('\t');
        let first = std::mem::replace(&mut begins, text.is_empty());
        let last = blocks.last_mut();
        if text.is_empty() || is_rule(text) {
            begins = true;
        } else if let Some(heading) = heading(text) {
            blocks.push(Block::Heading(plain(heading)));
            begins = true;
        } else if text.starts_with('|') {
            blocks.push(Block::Code);
            begins = true;
        } else if let Some(quoted) = text.strip_prefix('>') {
            blocks.push(Block::Quote(plain(quoted)));
        } else if let Some(item) = item(text) {
            blocks.push(Block::Item(plain(item)));
        } else if indented && first && !matches!(last, Some(Block::Item(_))) {
            blocks.push(Block::Code);
            begins = true;
        } else {
            match last {
                Some(Block::Paragraph { text: before, bold }) if !first => {
                    *bold &= is_bold(text);
                    before.push(' ');
                    before.push_str(&plain(text));
                }
                Some(Block::Item(before)) if !first || indented => {
                    before.push(' ');
                    before.push_str(&plain(text));
                }
                Some(_) | None => {
                    blocks.push(Block::Paragraph { text: plain(text), bold: is_bold(text) });
                }
            }
        }
    }
}

fn is_rule(text: &str) -> bool {
    text.len() >= 3 && ['-', '*', '_', '='].iter().any(|mark| text.chars().all(|each| each == *mark))
}

fn heading(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches('#');
    (rest.len() < text.len() && rest.starts_with(' ')).then_some(rest.trim())
}

fn item(text: &str) -> Option<&str> {
    if let Some(rest) = ["- ", "* ", "+ ", "• "].iter().find_map(|mark| text.strip_prefix(mark)) {
        return Some(rest.trim());
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[digits..];
    let rest = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "));
    rest.filter(|_| (1..=3).contains(&digits)).map(str::trim)
}

fn is_bold(text: &str) -> bool {
    let text = text.trim_end_matches([':', '.']);
    text.len() > 4 && ["**", "__"].iter().any(|mark| text.starts_with(mark) && text.ends_with(mark))
}

/// Removes emphasis from a text. Replaces code by the word `code` and quotations by the word `quote`, because code and
/// quotations ask the reader for nothing.
fn plain(text: &str) -> String {
    let text = without_code(text).replace(['’', '‘'], "'");
    let mut said = String::new();
    let mut rest = text.trim();
    while let Some(at) = rest.find(['"', '“', '«']) {
        let open = rest[at..].chars().next().unwrap_or('"');
        let close = match open {
            '“' => '”',
            '«' => '»',
            _ => '"',
        };
        let after = &rest[at + open.len_utf8()..];
        let Some(end) = after.find(close) else { break };
        // If the whole text is a quotation, it is treated as the reply's own text.
        let is_all = at == 0 && after[end + close.len_utf8()..].trim().is_empty();
        said.push_str(&rest[..at]);
        said.push_str(if is_all { &after[..end] } else { "quote" });
        rest = &after[end + close.len_utf8()..];
    }
    said.push_str(rest);
    said.replace("**", "").replace("__", "").replace(['*', '~'], "").trim().to_owned()
}

/// Replaces each span between backticks by the word `code`.
pub(super) fn without_code(text: &str) -> String {
    let mut said = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        let ticks = 1 + after.len() - after.trim_start_matches('`').len();
        let mark = "`".repeat(ticks);
        let Some((_, after)) = after.trim_start_matches('`').split_once(mark.as_str()) else { break };
        said.push_str(before);
        said.push_str("code");
        rest = after;
    }
    said + rest
}

/// Splits a text into sentences. Each sentence keeps its punctuation. Punctuation before a lower-case letter does not
/// end a sentence: a question mark there belongs to a quoted question.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut from = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, mark)) = chars.next() {
        let wide = matches!(mark, '。' | '？' | '！');
        if !(wide || matches!(mark, '.' | '?' | '!' | '؟' | '…')) {
            continue;
        }
        let mut end = at + mark.len_utf8();
        let closes =
            |each: char| matches!(each, '.' | '?' | '!' | ')' | ']' | '\'' | '"' | '_' | '…' | '”' | '»');
        while let Some((at, next)) = chars.next_if(|(_, next)| closes(*next)) {
            end = at + next.len_utf8();
        }
        let rest = &text[end..];
        let next = rest.trim_start().chars().next();
        let is_apart = wide || rest.is_empty() || rest.starts_with(char::is_whitespace);
        if is_apart && next.is_none_or(|next| !next.is_lowercase()) {
            sentences.push(text[from..end].trim());
            from = end;
        }
    }
    sentences.push(text[from..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}
