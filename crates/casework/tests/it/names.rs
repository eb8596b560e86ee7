//! Which names are alike.

use holdshort_casework::similarity;

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
    // What is too short, or no name at all, matches nothing.
    for nothing in ["", "-", "AB", "日本"] {
        assert!(similarity(nothing, nothing).abs() < 1e-12, "{nothing}");
    }
}
