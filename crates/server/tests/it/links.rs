//! Decision links: a page that shows the interrupt, and a form that decides.

use holdshort_core::digest::Digest;
use holdshort_web::links::{Claim, Links};
use reqwest::{Method, RequestBuilder, Url};
use serde_json::{Value, json};

use crate::harness::{Api, PageResponse, Served, created, fetch_page, ok, refusal, send_request, text};
use crate::people::{approve, peopled};

/// Names of the decision form's fields, each with the value that a person types.
type Typed = &'static [(&'static str, &'static str)];

/// Creates a decision link for an interrupt. Returns the path of the link.
async fn link(served: &Served, interrupt: &Value) -> String {
    link_for(served, interrupt, &json!({})).await
}

async fn link_for(served: &Served, interrupt: &Value, body: &Value) -> String {
    let path = format!("/v1/interrupts/{}/links", text(interrupt, "id"));
    let made = created(served.operator().post(&path, body).await);
    let origin = format!("http://{}", served.address());
    text(&made, "url").strip_prefix(&origin).unwrap().to_owned()
}

async fn get(served: &Served, path: &str) -> PageResponse {
    fetch_page(served.api(None).request(Method::GET, path)).await
}

fn form(api: &Api, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
    let encoded = Url::parse_with_params("http://x", fields).unwrap();
    api.request(Method::POST, path)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(encoded.query().unwrap_or_default().to_owned())
}

async fn send(served: &Served, path: &str, fields: &[(&str, &str)]) -> PageResponse {
    fetch_page(form(&served.api(None), path, fields)).await
}

async fn seq(served: &Served, interrupt: &Value) -> Value {
    ok(served.operator().get(&format!("/v1/runs/{}", text(interrupt, "run"))).await)["seq"].clone()
}

#[tokio::test]
async fn a_link_shows_changes_nothing_and_decides_once() {
    let served = Served::new().await;
    let asked = served.operator().ask().await;
    let path = link(&served, &asked).await;
    let before = seq(&served, &asked).await;

    let page = get(&served, &path).await;
    assert_eq!(page.status, 200, "{}", page.text);
    for part in
        ["Archive 41 branches", "All are merged.", "an agent that runs elsewhere", "Approve", "Reject"]
    {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    assert!(!page.text.contains("<script"));
    let head = fetch_page(served.api(None).request(Method::HEAD, &path)).await;
    assert_eq!((head.status, &*head.text), (200, ""));
    assert_eq!(seq(&served, &asked).await, before, "whoever follows a link changes nothing");

    let decided = send(&served, &path, &[("option", "approve"), ("text", "only\r\nmerged ones")]).await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    assert!(decided.text.contains("<strong>Approved</strong>"), "{}", decided.text);
    let interrupt = ok(served.operator().get(&format!("/v1/interrupts/{}", text(&asked, "id"))).await);
    let resolution = &interrupt["resolution"];
    assert_eq!(
        (&resolution["option"], &resolution["text"], &resolution["by"]),
        (&json!("approve"), &json!("only\nmerged ones"), &json!(["operator"]))
    );
    let events = ok(served.operator().get(&format!("/v1/runs/{}/events", text(&asked, "run"))).await);
    let made = events["items"].as_array().unwrap().iter().find(|event| event["type"] == "decision_made");
    assert_eq!(made.unwrap()["actor"], json!({"id": "operator", "role": "operator", "via": "link"}));

    // A form that is sent twice gets the existing result.
    let again = send(&served, &path, &[("option", "approve"), ("text", "only\r\nmerged ones")]).await;
    assert_eq!(again.status, 200, "{}", again.text);
    // A different decision is refused. The page shows the existing result, with its people and its time.
    let other = send(&served, &path, &[("option", "reject")]).await;
    assert_eq!(other.status, 409);
    for part in ["Already decided", "Approved", "Approve", "operator", text(resolution, "at"), "merged ones"]
    {
        assert!(other.text.contains(part), "{part}: {}", other.text);
    }
    let page = get(&served, &path).await;
    assert!(page.status == 200 && page.text.contains("Already decided") && !page.text.contains("<form"));
    let late = format!("/v1/interrupts/{}/links", text(&asked, "id"));
    let late = served.operator().post(&late, &json!({})).await;
    assert_eq!((refusal(&late), &late.1["resolution"]), ((409, "already_resolved", vec![]), resolution));
}

/// The decision page adds the real effect of each option to its label, because an agent can choose any label.
#[tokio::test]
async fn a_label_does_not_hide_what_its_option_does() {
    let served = Served::new().await;
    let ask = json!({"kind": "tool_approval", "title": "Archive 41 branches", "payload": {}, "options": [
        {"id": "approve", "label": "Refuse"}, {"id": "reject", "label": "Approve"}]});
    let asked = created(served.agent().post("/v1/interrupts", &ask).await);
    let page = get(&served, &link(&served, &asked).await).await.text;
    let after = |label: &str| {
        page.split(&format!("<bdi>{label}</bdi>")).nth(1).unwrap().split("</div>").next().unwrap().to_owned()
    };
    assert!(after("Refuse").contains("continues"), "{page}");
    assert!(after("Approve").contains("rejects it"), "{page}");

    let ask = json!({"kind": "checkpoint", "title": "Go on?", "payload": {"input": "x"}});
    let asked = created(served.agent().post("/v1/interrupts", &ask).await);
    let path = link(&served, &asked).await;
    let page = get(&served, &path).await.text;
    assert!(page.contains("ends the run as failed"), "{page}");
    assert!(!page.contains("ends the run as failed, ends the run"), "said once: {page}");
    let decided = send(&served, &path, &[("option", "approve")]).await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    assert!(!decided.text.contains("not used yet"), "nothing is carried out: {}", decided.text);
}

#[tokio::test]
async fn no_other_token_says_anything() {
    let served = Served::new().await;
    let (asked, other) = (served.operator().ask().await, served.operator().ask().await);
    let path = link(&served, &asked).await;
    let others = link(&served, &other).await;
    let half = path.len() / 2;
    let altered = format!(
        "{}{}{}",
        &path[..half],
        if &path[half..=half] == "A" { "B" } else { "A" },
        &path[half + 1..]
    );
    let mixed = format!("{}{}", &others[..others.len() - 43], &path[path.len() - 43..]);
    let forged = ["/d/x", "/d/%00", &altered, &mixed, &path[..path.len() - 1], &format!("{path}A")];
    for path in forged {
        for page in [get(&served, path).await, send(&served, path, &[("option", "approve")]).await] {
            assert_eq!(page.status, 404, "{path}");
            assert!(page.text.contains("incomplete or was never issued"), "{}", page.text);
            assert!(!page.text.contains("branches"), "{}", page.text);
        }
    }
    // A link stays valid after a restart, but not after the operator's token is replaced.
    let served = served.restart().await;
    assert_eq!(get(&served, &path).await.status, 200);
    std::fs::remove_file(served.data().join("tokens.json")).unwrap();
    let served = served.restart().await;
    assert_eq!(get(&served, &path).await.status, 404);
    let open = ok(served.operator().get("/v1/interrupts?status=open").await);
    assert_eq!(open["items"].as_array().unwrap().len(), 2, "none of this decided anything");
}

/// A decision link decides only on content with the digest in the link. A sealed link with another digest is rejected.
#[tokio::test]
async fn a_link_is_for_what_it_was_made_for() {
    let served = Served::new().await;
    let asked = served.operator().ask().await;
    let path = link(&served, &asked).await;
    let links = Links::new(served.token());
    let claim = links.claim(path.strip_prefix("/d/").unwrap()).unwrap();
    let of_other = links.token(&Claim { subject: Digest::of_bytes(b"something else"), ..claim.clone() });
    let of_other = format!("/d/{of_other}");
    for page in [get(&served, &of_other).await, send(&served, &of_other, &[("option", "approve")]).await] {
        assert_eq!(page.status, 410, "{}", page.text);
        assert!(!page.text.contains("branches"), "{}", page.text);
    }
    let open = ok(served.operator().get(&format!("/v1/interrupts/{}", text(&asked, "id"))).await);
    assert_eq!(open["status"], "open");
    let same = format!("/d/{}", links.token(&claim));
    assert_eq!(send(&served, &same, &[("option", "approve")]).await.status, 200);
}

#[tokio::test]
async fn links_and_interrupts_expire() {
    let served = Served::new().await;
    let asked = served.operator().ask().await;
    let path = link_for(&served, &asked, &json!({"expires_in_ms": 1})).await;
    // Repeats until the link has expired.
    while get(&served, &path).await.status == 200 {}
    for page in [get(&served, &path).await, send(&served, &path, &[("option", "approve")]).await] {
        assert_eq!(page.status, 410);
        assert!(
            page.text.contains("The link has expired") && !page.text.contains("branches"),
            "{}",
            page.text
        );
    }
    for ms in [json!(0), json!(2_592_000_001_u64), json!("1")] {
        let path = format!("/v1/interrupts/{}/links", text(&asked, "id"));
        let said = served.operator().post(&path, &json!({"expires_in_ms": ms})).await;
        assert_eq!(refusal(&said), (422, "invalid_request", vec!["/expires_in_ms"]), "{ms}");
    }

    let mut question = crate::harness::question();
    question["expires_in_ms"] = json!(2_000);
    let asked = created(served.agent().post("/v1/interrupts", &question).await);
    let path = link(&served, &asked).await;
    ok(served.operator().get(&format!("/v1/interrupts/{}?wait=15", text(&asked, "id"))).await);
    for page in [get(&served, &path).await, send(&served, &path, &[("option", "approve")]).await] {
        assert_eq!(page.status, 410);
        assert!(page.text.contains("Expired before a decision"), "{}", page.text);
    }
}

#[tokio::test]
async fn only_the_operator_makes_links() {
    let served = Served::new().await;
    let asked = served.agent().ask().await;
    let path = format!("/v1/interrupts/{}/links", text(&asked, "id"));
    assert_eq!(refusal(&served.agent().post(&path, &json!({})).await), (403, "forbidden_role", vec![]));
    assert_eq!(served.api(None).post(&path, &json!({})).await.0, 401);
    let unknown = "/v1/interrupts/int_00000000000000000000000000/links";
    assert_eq!(refusal(&served.operator().post(unknown, &json!({})).await), (404, "not_found", vec![]));
}

#[tokio::test]
async fn only_a_form_of_our_own_page_decides() {
    let served = Served::new().await;
    let asked = served.operator().ask().await;
    let path = link(&served, &asked).await;
    let api = served.api(None);
    let approve = || form(&api, &path, &[("option", "approve")]);
    for (header, value) in
        [("origin", "http://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")]
    {
        let refused = send_request(approve().header(header, value)).await;
        assert_eq!(refusal(&refused), (403, "wrong_origin", vec![]), "{value}");
    }
    let json = api.request(Method::POST, &path).json(&json!({"option": "approve"}));
    let refused = fetch_page(json).await;
    assert_eq!(refused.status, 415);
    let says_what = refused.text.contains("x-www-form-urlencoded") && !refused.text.contains("JSON");
    assert!(says_what, "{}", refused.text);
    for fields in
        [&[("option", "approve"), ("colour", "red")][..], &[("option", "approve"), ("option", "reject")]]
    {
        assert_eq!(send(&served, &path, fields).await.status, 422, "{fields:?}");
    }
    assert_eq!(fetch_page(api.request(Method::PUT, &path)).await.status, 405);
    let own = approve().header("origin", format!("http://{}", served.address()));
    assert_eq!(fetch_page(own.header("sec-fetch-site", "same-origin")).await.status, 200);
}

#[tokio::test]
async fn what_does_not_fit_is_said_beside_what_was_typed() {
    let served = Served::new().await;
    let question = json!({
        "kind": "question", "title": "Which colour?",
        "payload": {"question": "Which colour?", "choices": ["red", "blue & green"]}
    });
    let asked = created(served.agent().post("/v1/interrupts", &question).await);
    let path = link(&served, &asked).await;
    let page = get(&served, &path).await;
    assert!(page.text.contains("name=\"choice\" value=\"1\"") && page.text.contains("blue &amp; green"));
    assert_eq!(page.text.matches("<h3>Question</h3>").count(), 0, "the title has it: {}", page.text);
    let at = text(&asked, "created_at");
    let at = format!("{} {} UTC", &at[..10], &at[11..19]);
    assert!(page.text.contains(&at), "{at}: {}", page.text);
    assert!(!page.text.contains("rehearsal"), "{}", page.text);

    let table: &[(&[(&str, &str)], &str)] = &[
        (&[("option", "answer")], "#text"),
        (&[("option", "answer")], "<code>answer</code> (Answer) needs a text"),
        (&[("option", "answer"), ("choice", "1"), ("text", "pink")], "#text"),
        (&[("option", "nonsense"), ("text", "pink")], "is not offered here"),
    ];
    for (fields, expected) in table {
        let wrong = send(&served, &path, fields).await;
        assert_eq!(wrong.status, 422, "{fields:?}");
        assert!(wrong.text.contains(expected) && wrong.text.contains("role=\"alert\""), "{}", wrong.text);
        for (_, value) in fields.iter().filter(|(name, _)| *name == "text") {
            assert!(wrong.text.contains(value), "what was typed is kept: {}", wrong.text);
        }
    }
    let stale = send(&served, &path, &[("option", "answer"), ("text", "pink"), ("version", "9")]).await;
    assert_eq!(stale.status, 409);

    let answered = send(&served, &path, &[("option", "answer"), ("choice", "1")]).await;
    assert_eq!(answered.status, 200, "{}", answered.text);
    let interrupt = ok(served.operator().get(&format!("/v1/interrupts/{}", text(&asked, "id"))).await);
    assert_eq!(interrupt["resolution"]["text"], "blue & green");
}

#[tokio::test]
async fn a_change_is_typed_as_json_and_is_never_lost_by_the_wrong_button() {
    let served = Served::new().await;
    let asked = served.operator().ask().await;
    let path = link(&served, &asked).await;
    let unchanged = "{\r\n  \"branches\": 41\r\n}";
    for (option, edit, status, expected) in [
        ("edit", "{\"branches\": ", 422, "is not valid JSON"),
        ("edit", "{\"a\": 1, \"a\": 2}", 422, "is not valid JSON"),
        ("approve", "{\"branches\": 3}", 422, "ignores changes"),
        ("edit", "{\"branches\": 3}", 200, "Approved"),
    ] {
        let page = send(&served, &path, &[("option", option), ("edit", edit)]).await;
        assert_eq!(page.status, status, "{option} {edit}: {}", page.text);
        assert!(page.text.contains(expected), "{option} {edit}: {}", page.text);
    }
    let interrupt = ok(served.operator().get(&format!("/v1/interrupts/{}", text(&asked, "id"))).await);
    assert_eq!(interrupt["resolution"]["edit"], json!({"branches": 3}));

    let asked = served.operator().ask().await;
    let path = link(&served, &asked).await;
    let page = send(&served, &path, &[("option", "approve"), ("edit", unchanged)]).await;
    assert_eq!(page.status, 200, "as a browser sends what nobody touched: {}", page.text);

    let asked = served.operator().ask().await;
    let path = link(&served, &asked).await;
    let page = send(&served, &path, &[("option", "edit"), ("edit", unchanged)]).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let interrupt = ok(served.operator().get(&format!("/v1/interrupts/{}", text(&asked, "id"))).await);
    assert_eq!(interrupt["resolution"]["option"], "approve", "an edit that changes nothing");
}

/// An answer whose schema no form can represent is typed as JSON. The field on the decision page is open and empty, and
/// keeps an invalid answer.
#[tokio::test]
async fn an_answer_of_data_is_typed_as_json() {
    let served = Served::new().await;
    let question = json!({"kind": "question", "title": "When?", "response_schema": {
        "$defs": {"Slot": {"type": "object", "properties": {"day": {"enum": ["mon", "tue"]}, "hour": {"type": "integer"}},
                           "required": ["day", "hour"]}},
        "type": "object", "properties": {"slot": {"$ref": "#/$defs/Slot"}}, "required": ["slot"]}});
    let asked = created(served.agent().post("/v1/interrupts", &question).await);
    let path = link(&served, &asked).await;
    let page = get(&served, &path).await;
    for part in ["<details open>", "Write the answer", "The answer, as JSON", "&quot;hour&quot;"] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    assert!(page.text.contains("spellcheck=\"false\">\n</textarea>"), "nobody has answered: {}", page.text);
    for (typed, part) in [
        ("", "is empty"),
        ("tomorrow", "is not valid JSON"),
        (r#"{"slot": {"day": "sun", "hour": 9}}"#, "is not one of"),
    ] {
        let refused = send(&served, &path, &[("option", "answer"), ("edit", typed)]).await;
        assert_eq!(refused.status, 422, "{}", refused.text);
        let kept = typed.replace('"', "&quot;");
        assert!(refused.text.contains(part) && refused.text.contains(&kept), "{}", refused.text);
    }
    let words = send(&served, &path, &[("option", "answer"), ("text", "On Monday"), ("edit", "")]).await;
    assert_eq!(words.status, 422, "words are no answer of this form: {}", words.text);
    assert!(
        words.text.contains("are sent only as a note") && words.text.contains("On Monday"),
        "{}",
        words.text
    );
    let edit = r#"{"slot": {"day": "tue", "hour": 9}}"#;
    let decided = send(&served, &path, &[("option", "answer"), ("edit", edit)]).await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let interrupt = ok(served.operator().get(&format!("/v1/interrupts/{}", text(&asked, "id"))).await);
    assert_eq!(interrupt["resolution"]["edit"], json!({"slot": {"day": "tue", "hour": 9}}));
}

fn felt() -> Value {
    json!({"kind": "question", "title": "How did it feel?", "response_schema": {
        "type": "object", "required": ["felt", "as_planned"], "additionalProperties": false, "properties": {
            "felt": {"type": "string", "enum": ["easy", "hard & long"], "title": "How it felt"},
            "as_planned": {"type": "boolean", "description": "It was meant to be so"},
            "rpe": {"type": "integer", "maximum": 10}, "hours": {"type": "number"}, "note": {"type": "string"}}}})
}

/// On the decision page, each member of an answer that is an object of plain values has a field. No field has a
/// default.
#[tokio::test]
async fn an_answer_that_nobody_gave_is_never_sent() {
    let served = Served::new().await;
    let asked = created(served.agent().post("/v1/interrupts", &felt()).await);
    let path = link(&served, &asked).await;
    let page = get(&served, &path).await.text;
    for part in ["How it felt", "It was meant to be so", "as planned", "hard &amp; long", "(required)"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains(" selected") && !page.contains(" checked") && !page.contains("as JSON"), "{page}");

    // Fields of required members come first, in the order of the schema.
    let table: &[(Typed, &[&str])] = &[
        (&[("text", "It felt really hard")], &["#answer-0", "#answer-1", "#text", "is required"]),
        (&[], &["#answer-0", "#answer-1"]),
        (&[("answer-0", "1")], &["#answer-1"]),
        (&[("answer-0", "easy"), ("answer-1", "0")], &["#answer-0", "is not one of the choices"]),
        (&[("answer-0", "7"), ("answer-1", "0")], &["#answer-0"]),
    ];
    for (fields, expected) in table {
        let fields: Vec<(&str, &str)> = fields.iter().copied().chain([("option", "answer")]).collect();
        let refused = send(&served, &path, &fields).await;
        assert_eq!(refused.status, 422, "{fields:?}: {}", refused.text);
        for part in *expected {
            assert!(refused.text.contains(part), "{fields:?} {part}: {}", refused.text);
        }
        let is_kept = |(name, value): &(&str, &str)| *name != "text" || refused.text.contains(value);
        assert!(fields.iter().all(is_kept), "what was typed is kept: {}", refused.text);
    }
    let unknown = send(&served, &path, &[("option", "answer"), ("answer-x", "1")]).await;
    assert_eq!(unknown.status, 422, "{}", unknown.text);
    let twice = send(&served, &path, &[("option", "answer"), ("option", "skip")]).await;
    assert_eq!(twice.status, 422, "{}", twice.text);
}

#[tokio::test]
async fn an_answer_is_built_by_the_types_of_its_schema_and_shown_whole() {
    let served = Served::new().await;
    let asked = created(served.agent().post("/v1/interrupts", &felt()).await);
    let path = link(&served, &asked).await;
    let page = get(&served, &path).await.text;
    // Optional members come in the order of the stored schema.
    let field = |label: &str| {
        let before = page.split(&format!("<bdi>{label}</bdi>")).next().unwrap();
        before.rsplit("<label for=\"").next().unwrap().split('"').next().unwrap().to_owned()
    };
    let (rpe, hours, note) = (field("rpe"), field("hours"), field("note"));
    let fields = |of_rpe: &'static str| {
        vec![
            ("option", "answer"),
            ("answer-0", "1"),
            ("answer-1", "1"),
            (&*rpe, of_rpe),
            (&*hours, "1.5"),
            (&*note, ""),
            ("text", "I was ill"),
        ]
    };
    for (typed, part) in [("7.5", "is not a whole number"), ("11", "maximum")] {
        let refused = send(&served, &path, &fields(typed)).await;
        assert_eq!(refused.status, 422, "{}", refused.text);
        let kept = format!("value=\"{typed}\"");
        for part in [part, &*format!("#{rpe}"), &*kept, "value=\"1\" selected", "I was ill"] {
            assert!(refused.text.contains(part), "{part}: {}", refused.text);
        }
    }
    let decided = send(&served, &path, &fields("7")).await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    for part in
        ["How it felt", "hard &amp; long", "as planned", "<bdi>no</bdi>", "<bdi>1.5</bdi>", "I was ill"]
    {
        assert!(decided.text.contains(part), "{part}: {}", decided.text);
    }
    let interrupt = ok(served.operator().get(&format!("/v1/interrupts/{}", text(&asked, "id"))).await);
    let expected = json!({"felt": "hard & long", "as_planned": false, "rpe": 7, "hours": 1.5});
    assert_eq!(interrupt["resolution"]["edit"], expected);
    assert_eq!(interrupt["resolution"]["text"], "I was ill");
}

#[tokio::test]
async fn where_the_risk_is_high_a_tick_comes_first() {
    let steps = "    - calls:\n        - {as: a, tool: request_review, arguments: \
                 {title: T, content: The output, risk_level: critical}}\n    - text: Done.\n";
    let served = Served::playing(steps).await;
    let asked = served.held().await;
    let path = link(&served, &asked).await;
    let page = get(&served, &path).await.text;
    assert!(page.contains("name=\"confirm\"") && page.contains("this is a rehearsal"), "{page}");
    let page = send(&served, &path, &[("option", "approve"), ("text", "fine"), ("edit", "The output")]).await;
    assert_eq!(page.status, 422);
    assert!(page.text.contains("#confirm") && page.text.contains("fine"), "{}", page.text);

    let page =
        send(&served, &path, &[("option", "approve"), ("confirm", "yes"), ("edit", "The output")]).await;
    assert_eq!(page.status, 200, "{}", page.text);

    // An option that stops the work needs no tick.
    let asked = served.held().await;
    let path = link(&served, &asked).await;
    assert_eq!(send(&served, &path, &[("option", "reject"), ("edit", "The output")]).await.status, 200);
}

/// The decision page requires a tick if it does not show the whole change. Look-alike letters are marked.
#[tokio::test]
async fn what_a_page_does_not_show_of_a_change_needs_a_tick() {
    const LINES: usize = 4_000;
    // Every second line is unchanged, so the card has both kinds of lines.
    let line =
        |n: usize, word: &str| if n % 2 == 1 { format!("{word} {n}\n") } else { format!("line {n}\n") };
    let new = |n: usize| if n == 1 { "p\u{430}ypal\n".to_owned() } else { line(n, "new") };
    let content = (0..LINES).map(new).collect::<String>().replace('\n', "\\n");
    let call = format!("{{tool: write_file, arguments: {{path: table.txt, content: \"{content}\"}}}}");
    let again = format!("    - text: Again.\n      calls:\n        - {call}\n");
    let served = Served::playing(&format!("{again}{again}")).await;
    let old: String = (0..LINES).map(|n| line(n, "old")).collect();
    std::fs::write(served.workspace().join("table.txt"), old).unwrap();
    let asked = served.held().await;
    let unseen = text(&asked, "unseen");
    assert!(unseen.starts_with("Not shown here: "), "{unseen}");
    let path = link(&served, &asked).await;
    let page = get(&served, &path).await.text;
    let marked = "<span class=\"added\">+ p<mark title=\"A letter of another script that looks like an ASCII letter\">\u{430}</mark>ypal</span>";
    for part in [
        marked,
        &*format!("<p class=\"notice\">{unseen}</p>"),
        "All of the new text",
        "new 3999",
        "name=\"confirm\"",
    ] {
        assert!(page.contains(part), "{part}: {}", &page[..page.len().min(9_000)]);
    }
    let refused = send(&served, &path, &[("option", "approve")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text.contains("this page does not show the whole change"), "{}", refused.text.len());
    // A rejection needs no tick.
    assert_eq!(send(&served, &path, &[("option", "reject")]).await.status, 200);

    let asked = served.next_of(text(&asked, "run")).await;
    let path = link(&served, &asked).await;
    let allowed = send(&served, &path, &[("option", "approve"), ("confirm", "yes")]).await;
    assert!(allowed.status == 200 && allowed.text.contains("<strong>Approved</strong>"));
}

/// The decision page lists the approvers, the votes and the missing votes, and says if the holder of the link may
/// decide.
#[tokio::test]
async fn a_page_says_who_is_asked_who_has_decided_and_who_is_missing() {
    let served = peopled().await;
    let asked = served.ask_of(json!({"groups": ["legal"], "quorum": {"required": 2}})).await;
    let path = link(&served, &asked).await;
    let page = get(&served, &path).await.text;
    for part in ["2 of the group legal", "2 more people", "may not decide: "] {
        assert!(page.contains(part), "{part}: {page}");
    }
    ok(approve(&served.signed_in_as("anna").await, &asked).await);
    let page = get(&served, &path).await.text;
    assert!(
        page.contains("<bdi>anna (signed in with a link of operator): ") && page.contains("one more person"),
        "{page}"
    );
    let refused = send(&served, &path, &[("option", "approve")]).await;
    assert_eq!(refused.status, 403, "{}", refused.text);

    // If any single operator may decide, the page shows no approvers and votes.
    let usual = served.agent().ask().await;
    let page = get(&served, &link(&served, &usual).await).await.text;
    assert!(!page.contains("Approvers") && !page.contains("may not decide"), "{page}");

    let staged =
        json!({"stages": [{"name": "law", "groups": ["legal"]}, {"name": "money", "groups": ["finance"]}]});
    let staged = served.ask_of(staged).await;
    let page = get(&served, &link(&served, &staged).await).await.text;
    for part in ["2 stages", "▸ 1 law: the group legal", "2 money: the group finance"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}
