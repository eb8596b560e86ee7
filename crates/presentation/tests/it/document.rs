//! A released text as an HTML page.

use holdshort_presentation::Document;

#[test]
fn a_document_is_a_page_that_loads_nothing() {
    let document = Document {
        title: "Report <1>".to_owned(),
        byline: "SHA-256 00".to_owned(),
        text: "## Findings\n\n- F1 large_cash: customer 2\n- <script>alert(1)</script> [link](https://example.com)\n".to_owned(),
        is_rehearsal: true,
    };
    let page = document.html();
    assert!(page.contains("<h1>Report &lt;1&gt;</h1>") && page.contains("SHA-256 00"), "{page}");
    assert!(page.contains("F1 large_cash: customer 2</li>"), "{page}");
    assert!(
        !page.contains("<script") && !page.contains("href=\"https") && page.contains("From a rehearsal."),
        "{page}"
    );
    let plain = Document { is_rehearsal: false, ..document };
    assert!(!plain.html().contains("rehearsal"));
    let mut reader = quick_xml::Reader::from_str(page.strip_prefix("<!DOCTYPE html>").unwrap());
    while !matches!(reader.read_event().expect("well-formed"), quick_xml::events::Event::Eof) {}
}
