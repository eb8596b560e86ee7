//! Compares the address in the visible text of a Markdown link or image with its real target.

/// Maximum number of characters of a link's address that are examined.
const TARGET: usize = 256;

#[derive(Clone, Copy, Debug)]
pub(super) struct Link<'a> {
    pub is_image: bool,
    pub text: &'a str,
    pub target: &'a str,
}

/// Returns true if the text may contain a Markdown link. This fast check never misses a link.
pub(super) fn may_be_in(text: &str) -> bool {
    text.contains("](")
}

/// Returns the inline links and images of a Markdown text. The text is read once.
pub(super) fn links(text: &str) -> impl Iterator<Item = Link<'_>> {
    let mut open = None;
    text.match_indices(['[', ']']).filter_map(move |(i, bracket)| {
        if bracket == "[" {
            open = Some(i);
            return None;
        }
        let start = open.take()?;
        let rest = text[i + 1..].strip_prefix('(')?.trim_start().trim_start_matches('<');
        let is_end = |(n, c): (usize, char)| n == TARGET || c.is_whitespace() || matches!(c, ')' | '>');
        let end = rest.chars().enumerate().take_while(|at| !is_end(*at)).map(|(_, c)| c.len_utf8()).sum();
        Some(Link { is_image: text[..start].ends_with('!'), text: &text[start + 1..i], target: &rest[..end] })
    })
}

/// Returns true if the target of a link is on another server.
pub(super) fn is_elsewhere(target: &str) -> bool {
    scheme(target).is_some() || target.starts_with("//") || target.starts_with("\\\\")
}

/// Returns true if the visible text of a link hides its target: the target is not a web page or mail address, or has
/// another host than the text.
pub(super) fn misleads(text: &str, target: &str) -> bool {
    let opens_a_page = scheme(target).is_none_or(|scheme| ["http", "https", "mailto"].contains(&&*scheme));
    !opens_a_page || host(text).is_some_and(|named| host(target) != Some(named))
}

/// Returns the URL scheme of a link's target in lower case, without characters that browsers ignore.
fn scheme(target: &str) -> Option<String> {
    let (scheme, _) = target.split_once(':')?;
    let scheme: String = scheme.chars().filter(|c| !c.is_control()).collect();
    let is_one = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_one.then(|| scheme.to_ascii_lowercase())
}

/// Returns the host of a link's address. An address that begins with `www.` needs no scheme.
fn host(address: &str) -> Option<String> {
    let address = address.trim();
    let rest = match address.split_once("://") {
        Some((_, rest)) => rest,
        None if address.starts_with("www.") => address,
        None => address.strip_prefix("//")?,
    };
    let authority = rest.split(|c: char| c.is_whitespace() || "/\\?#".contains(c)).next()?;
    let host = authority.rsplit('@').next()?.to_ascii_lowercase();
    Some(host.strip_prefix("www.").unwrap_or(&host).to_owned())
}
