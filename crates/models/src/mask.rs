//! Prepares a text for people: removes secrets and control characters, and shortens it.

/// Maximum length, in bytes, of a message about a failed model request.
pub(crate) const MAX_MESSAGE: usize = 2048;
/// Maximum number of bytes of a provider's error text that are read.
const MAX_INPUT: usize = 64 * 1024;
const MASKED: &str = "[key]";
/// Prefixes of API keys of common providers. Providers often repeat a wrong key in their error message.
const PREFIXES: [&str; 7] = ["sk-", "sk_", "AIza", "gsk_", "xai-", "pk-", "r8_"];
/// Minimum length, in characters, of a text with the prefix of an API key that is taken for a key and not for a word.
const MIN_KEY: usize = 12;

/// Secrets that are removed from texts of model providers.
#[derive(Clone, Default)]
pub(crate) struct Mask(Vec<String>);

impl Mask {
    pub(crate) fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        Self(secrets.into_iter().filter(|secret| secret.len() >= 4).collect())
    }

    /// Converts a text of a model provider to one line of at most [`MAX_MESSAGE`] bytes, without secrets.
    pub(crate) fn clean(&self, text: &str) -> String {
        let mut text = head(text, MAX_INPUT).to_owned();
        for secret in &self.0 {
            text = text.replace(secret.as_str(), MASKED);
        }
        let mut clean = String::with_capacity(text.len());
        for word in text.split_inclusive(|c: char| !is_key_char(c)) {
            let bare = word.trim_end_matches(|c| !is_key_char(c));
            if bare.len() >= MIN_KEY && PREFIXES.iter().any(|prefix| bare.starts_with(prefix)) {
                clean.push_str(MASKED);
                clean.push_str(&word[bare.len()..]);
            } else {
                clean.push_str(word);
            }
        }
        let line: String = clean.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let line = line.trim();
        if line.len() <= MAX_MESSAGE {
            return line.to_owned();
        }
        format!("{}…", head(line, MAX_MESSAGE - '…'.len_utf8()))
    }
}

fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*')
}

fn head(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_do_not_get_through() {
        let mask = Mask::new(["hunter2secret".to_owned()]);
        assert_eq!(mask.clean("got hunter2secret\n, sorry"), "got [key] , sorry");
        assert_eq!(mask.clean("Incorrect key: sk-proj-abcd****WXYZ."), "Incorrect key: [key].");
        assert_eq!(mask.clean("?key=AIzaSyD_12345678&x"), "?key=[key]&x");
        assert_eq!(mask.clean("sk-learn is a word"), "sk-learn is a word");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let line = Mask::default().clean(&"é".repeat(MAX_MESSAGE));
        assert!(line.len() <= MAX_MESSAGE && line.ends_with("é…"), "{}", line.len());
    }
}
