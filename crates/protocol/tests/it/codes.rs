//! Error codes.

use holdshort_protocol::Code;

#[test]
fn each_code_is_one_word_with_one_meaning() {
    for (i, code) in Code::ALL.iter().enumerate() {
        let text = code.as_str();
        assert!(text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{text}");
        assert_eq!(serde_json::to_value(code).ok(), Some(text.into()));
        assert_eq!((Code::parse(text), serde_json::from_value(text.into()).ok()), (Some(*code), Some(*code)));
        assert!((400..600).contains(&code.status()), "{text}");
        let alike = |other: &Code| other.as_str() == text || other.title() == code.title();
        assert!(!Code::ALL[..i].iter().any(alike), "{text} is there twice");
        assert!(!code.title().ends_with('.') && code.fix().ends_with('.'), "{text}");
    }
}
