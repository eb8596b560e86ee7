//! Similarity of names.

use holdshort_compliance::casework::similarity;

#[test]
fn letters_marks_and_order_make_no_difference() {
    for (one, other) in [
        ("Ash Hawthorn", "HAWTHORN, Ash"),
        ("Viorel Gențiană", "viorel gentiana"),
        ("Linde Weißdorn", "linde weissdorn"),
        ("Ｎightshade  Holdings", "Nightshade-Holdings"),
        ("Łucja Brzoza", "Lucja Brzoza"),
    ] {
        assert!(
            (similarity(one, other) - 1.0).abs() < 1e-12,
            "{one} and {other}: {}",
            similarity(one, other)
        );
    }
}

#[test]
fn a_letter_more_is_alike_and_another_name_is_not() {
    assert!(similarity("Nightshade Holding", "Nightshade Holdings") >= 0.92);
    assert!(similarity("Viorel Gentian", "Viorel Gențiană") >= 0.92);
    assert!(similarity("Ash Hawthorn", "Hemlock Oleander") < 0.7);
    // The similarity of an empty name is 0, even to another empty name.
    for nothing in ["", "-"] {
        assert!(similarity(nothing, nothing).abs() < 1e-12, "{nothing}");
    }
}

#[test]
fn a_short_name_is_like_itself_alone() {
    for short in ["AB", "李明", "Ng"] {
        assert!((similarity(short, &short.to_lowercase()) - 1.0).abs() < 1e-12, "{short}");
        assert!(similarity(short, "Nga").abs() < 1e-12, "{short}");
        assert!(similarity(short, "").abs() < 1e-12, "{short}");
    }
}
