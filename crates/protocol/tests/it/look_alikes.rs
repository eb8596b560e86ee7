//! Letters of other scripts that look like ASCII letters.

use holdshort_protocol::LookAlikes;

#[test]
fn only_foreign_letters_of_the_words_are_apart() {
    let words = LookAlikes::new(["\u{441}url", "p\u{440}…"].into_iter());
    let table: &[(&str, &[(&str, bool)])] = &[
        ("", &[]),
        ("curl", &[("curl", false)]),
        ("\u{441}url -d", &[("\u{441}", true), ("url -d", false)]),
        (
            "a \u{441}url|\u{441}url",
            &[("a ", false), ("\u{441}", true), ("url|", false), ("\u{441}", true), ("url", false)],
        ),
        ("\u{441}", &[("\u{441}", false)]),
        // A warning contains only the beginning of a long word.
        ("p\u{440}oduction", &[("p", false), ("\u{440}", true), ("oduction", false)]),
    ];
    for (text, expected) in table {
        let found: Vec<_> = words.pieces(text).iter().map(|piece| (piece.text, piece.is_foreign)).collect();
        assert_eq!(found, *expected, "{text}");
    }
}
