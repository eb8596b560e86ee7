//! Finds remote hosts in a text. Recognises URLs, IP addresses, hosts with a port, and host names with well-known
//! top-level domains. The local machine is not a remote host.

/// URL schemes that connect to a remote host.
const SCHEMES: [&str; 11] =
    ["http", "https", "ftp", "ftps", "sftp", "ssh", "ws", "wss", "s3", "gs", "postgres"];
/// Top-level domains that cannot be confused with file extensions.
const ENDINGS: [&str; 7] = ["com", "org", "internal", "corp", "intranet", "cloud", "gov"];
/// Top-level domains that are recognised only in names with at least three labels. A name with two labels, such as
/// `socket.io`, may be the name of a library.
const LONG_ENDINGS: [&str; 4] = ["net", "io", "dev", "app"];

/// Returns the first remote host in the text.
pub(super) fn first(text: &str) -> Option<String> {
    let stops = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | '(' | ')' | '<' | '>' | '|')
    };
    text.split(stops).find_map(host)
}

fn host(word: &str) -> Option<String> {
    let word = word.trim_end_matches(['.', ':', '!', '?']);
    let (is_url, rest) = match word.split_once("://") {
        Some((scheme, rest)) if SCHEMES.contains(&scheme.to_lowercase().as_str()) => (true, rest),
        Some(_) => return None,
        None => (false, word),
    };
    // The domain of an e-mail address is not a host with which a program connects.
    if !is_url && rest.contains('@') && !rest.contains(':') {
        return None;
    }
    let named = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let named = named.split('/').next().unwrap_or_default();
    let (name, port) = named.split_once(':').unwrap_or((named, ""));
    let name = name.to_lowercase();
    if name.is_empty() || is_this_machine(&name) || !is_name(&name) {
        return None;
    }
    let labels: Vec<&str> = name.split('.').collect();
    let has_port = !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()) && labels.len() > 1;
    let ending = *labels.last().unwrap_or(&"");
    let is_known = (labels.len() > 1 && ENDINGS.contains(&ending))
        || (labels.len() > 2 && LONG_ENDINGS.contains(&ending));
    (is_url || has_port || is_address(&labels) || is_known).then_some(name)
}

fn is_name(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
        && name.split('.').all(|label| !label.is_empty())
}

fn is_address(labels: &[&str]) -> bool {
    labels.len() == 4 && labels.iter().all(|label| label.parse::<u8>().is_ok())
}

fn is_this_machine(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost") || name.starts_with("127.") || name == "0.0.0.0"
}
