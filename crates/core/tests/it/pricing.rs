//! Prices and costs are whole numbers, never floating-point numbers.

use holdshort_core::message::Usage;
use holdshort_core::pricing::{Cost, Price, amount, millionths};

#[test]
fn an_amount_is_read_and_shown_without_a_float() {
    for (text, value, shown) in [
        ("1.50", Some(1_500_000), "1.50"),
        ("0.000125", Some(125), "0.000125"),
        ("3", Some(3_000_000), "3.00"),
        ("0.1", Some(100_000), "0.10"),
        ("1.", None, ""),
        (".5", None, ""),
        ("1e3", None, ""),
        ("-1", None, ""),
        ("0.0000001", None, ""),
        ("99999999999999", None, ""),
    ] {
        assert_eq!(millionths(text), value, "{text}");
        assert_eq!(value.map(amount).unwrap_or_default(), shown, "{text}");
    }
}

#[test]
fn a_cost_is_exact_and_rounded_up_where_it_is_shown() {
    let price = Price { input_per_million: 150_000, output_per_million: 600_000, currency: "USD".to_owned() };
    let once = price.cost(Usage { input_tokens: 1, output_tokens: 0 });
    assert_eq!(once.millionths(), 1);
    let many = (0..100).fold(Cost::default(), |sum, _| sum.plus(once));
    assert_eq!(many.millionths(), 15, "100 times 0.15 millionths");
    assert!(many.reaches(15) && !many.reaches(16));
}
