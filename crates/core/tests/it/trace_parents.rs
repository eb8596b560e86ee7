//! The HTTP header `traceparent` of a request (W3C Trace Context).

use holdshort_core::trace_parent::TraceParent;

#[test]
fn what_fits_and_is_recorded_can_be_joined() {
    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";
    let known = TraceParent { trace: 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736, span: 0xf0_67aa_0ba9_02b7 };
    let whole = format!("00-{TRACE}-{SPAN}-01");
    assert_eq!(TraceParent::read(&whole), Some(known));
    assert_eq!(String::from(known), whole);
    for fits in [
        format!("00-{TRACE}-{SPAN}-03"),
        format!("cc-{TRACE}-{SPAN}-01"),
        format!("cc-{TRACE}-{SPAN}-01-more"),
    ] {
        assert_eq!(TraceParent::read(&fits), Some(known), "{fits}");
    }
    let zeros = "0".repeat(32);
    for none in [
        String::new(),
        whole.to_uppercase(),
        format!("00-{TRACE}-{SPAN}-00"),
        format!("00-{TRACE}-{SPAN}"),
        format!("00-{TRACE}-{SPAN}-01-"),
        format!("00-{TRACE}-{SPAN}-01 "),
        format!("cc-{TRACE}-{SPAN}-01more"),
        format!("ff-{TRACE}-{SPAN}-01"),
        format!("0g-{TRACE}-{SPAN}-01"),
        format!("00-{zeros}-{SPAN}-01"),
        format!("00-{TRACE}-{}-01", &zeros[..16]),
        format!("00-+{}-{SPAN}-01", &TRACE[1..]),
        format!("00-{TRACE}-{SPAN}-1é"),
        format!("00_{TRACE}_{SPAN}_01"),
    ] {
        assert_eq!(TraceParent::read(&none), None, "{none}");
    }
    let stored = serde_json::to_string(&known).unwrap();
    assert_eq!(serde_json::from_str::<TraceParent>(&stored).unwrap(), known);
    assert!(serde_json::from_str::<TraceParent>("\"00\"").is_err());
}
